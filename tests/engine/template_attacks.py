"""Chat templates that want too much: time, memory, depth, or a way out of the sandbox."""

from __future__ import annotations

LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
_END = "{% endfor %}" * 3
_HEX = "{% set x = ('f' * (messages | length * 2500000)) | int(0, 16) %}"


def _nested(kind: str) -> str:
    """Two equal values of 10^12 parts in some hundred kilobytes."""
    first = {"list": "[1]", "tuple": "(1,)"}[kind]
    wrap = {"list": "[{}]", "tuple": "({},)"}[kind]
    return "".join(
        f"{{% set a{n} = {first} * 10000 %}}"
        f"{{% set b{n} = {wrap.format(f'a{n}')} * 10000 %}}"
        f"{{% set c{n} = {wrap.format(f'b{n}')} * 10000 %}}"
        for n in (1, 2)
    )


def _deep(wrapped: str, depth: int = 90_000) -> str:
    return (
        "{% set n = namespace(x=0) %}"
        f"{{% for i in range({depth}) %}}{{% set n.x = {wrapped} %}}{{% endfor %}}"
    )


def _grown(begin: str, grown: str, times: int = 60) -> str:
    return (
        f"{{% set n = namespace(x={begin}) %}}"
        f"{{% for i in range({times}) %}}{{% set n.x = {grown} %}}{{% endfor %}}"
    )


_COMPARED = (
    "c1 == c2", "c1 != c2", "c1 < c2", "c1 >= c2", "c1 in [c2]", "c1 is eq c2", "c1 is lt c2",
    "c1 is in [c2]", "[c1, c2] | sort", "[c1, c2] | min", "[c1, c2] | max", "[c2].index(c1)",
    "[c2].count(c1)", "{'x': c1} == {'x': c2}", "[{'x': c1}, {'x': c2}] | groupby('x') | list",
    "[[c1, 1], [c2, 2]] | dictsort", "[c1] | select('eq', c2) | list", "[c1] | reject('in', [c2])"
    " | list", "{'x': c1} | dictsort(by='value') == {'x': c2} | dictsort(by='value')",
)  # fmt: skip
_PUT_INTO_WORDS = (
    "c1", "c1 ~ ''", "c1 | upper", "c1 | lower", "c1 | e", "c1 | forceescape", "c1 | trim",
    "c1 | safe", "c1 | title", "c1 | capitalize", "c1 | striptags", "c1 | replace('1', '2')",
    "c1 | wordcount", "c1 | center", "c1 | indent", "c1 | string", "c1 | pprint", "c1 | tojson",
    "c1 | tojson(indent=2)", "c1 | join", "c1 | urlize", "c1 | urlencode", "c1 | truncate",
    "'%s' % (c1,)", "'%r' | format(c1)", "'{}'.format(c1)", "raise_exception(c1)", "{c1: 1}",
    "messages[c1]", "{}[c1]", "c1.nothing.more", "{'x': c1} | xmlattr", "c1 | map('upper') | list",
    "[c1] | map('string') | join", "c1 | sum(start=[])", "c1 | int", "c1 | float", "cycler(c1)",
    "strftime_now(c1)", "c1 | filesizeformat",
)  # fmt: skip
_HASHED = (
    "{c1: 1}", "{}.get(c1)", "[c1, c2] | unique | list", "{c1: 1} == {c2: 1}", "{c1: 1}[c2]",
    "dict([(c1, 1)])", "[c1] | groupby(0) | list", "c1 in {}", "c1 == c2", "c1 | upper",
)  # fmt: skip
_DEEP = {
    "tuples, hashed": _deep("(n.x,)") + "{{ {n.x: 1} }}",
    "more tuples, hashed": _deep("(n.x, 1)", 99_999) + "{{ [n.x] | unique | list }}",
    "tuples, compared": _deep("(n.x,)") + "{{ n.x == (n.x, 1) }}",
    "tuples in tuples, hashed": _deep("((((((((((n.x,),),),),),),),),),)") + "{{ {n.x: 1} }}",
    "lists, written": _deep("[n.x]") + "{{ n.x }}",
    "lists, as JSON": _deep("[n.x]") + "{{ n.x | tojson }}",
    "lists, in words": _deep("[n.x]") + "{{ n.x | pprint }}",
    "lists, dropped": _deep("[n.x]") + "{% set n.x = 0 %}",
    "dicts, written": _deep("{'x': n.x}") + "{{ n.x }}",
    "dicts, compared": _deep("{'x': n.x}") + "{{ n.x == {'x': n.x} }}",
    "filters": "{{ messages" + " | list" * 5000 + " }}",
    "parentheses": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "many more parentheses": "{{ " + "[" * 200_000 + "1" + "]" * 200_000 + " }}",
    "sums": "{{ 1" + " + 1" * 50_000 + " }}",
    "nots": "{{ " + "not " * 50_000 + "1 }}",
    "conditions": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "blocks": "{% for i in range(2) %}" * 21 + "{% endfor %}" * 21,
    "attributes": "{{ messages" + ".x" * 100_000 + " }}",
    "calls": "{{ cycler" + "(1)" * 50_000 + " }}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "recursion of two": "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}"
    "{% endmacro %}{{ g() }}",
    "recursion of a caller": "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}"
    "{% endmacro %}{{ f() }}",
    "a recursive loop": "{% for a in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "double recursion": "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}"
    "{% endmacro %}{{ f(60) }}",
    "recursion that writes": "{% macro f(n) %}{% set x = f(n - 1) if n else 'x' * 99 %}{{ x ~ x }}"
    "{% endmacro %}{{ f(40) }}",
}
_NUMBERS = {
    "power": "{{ 9 ** 9 ** 9 ** 9 }}",
    "power of a variable": "{% set x = 9 %}{{ x ** x ** x ** x }}",
    "power of a fraction": "{{ 1.5 ** 99999999 }}",
    "hexadecimal, divided": f"{_HEX}{{{{ x // 3 % 7 }}}}",
    "hexadecimal, divided by itself": f"{_HEX}{{{{ x * x // (x - 1) % 7 }}}}",
    "hexadecimal, modulo": f"{_HEX}{{{{ x * x % (x // 3) % 7 }}}}",
    "hexadecimal, squared": f"{_HEX}{{{{ (x * x * x * x) > 1 }}}}",
    "hexadecimal, written": f"{_HEX}{{{{ x }}}}",
    "digits": "{{ ('9' * 4000000) | int }}",
    "a long number": "{{ " + "1" * 5000 + " }}",
    "squared again and again": _grown("3", "n.x * n.x") + "{{ n.x > 1 }}",
    "quotients of squares": _grown("7", "n.x * n.x", 24) + "{{ n.x // (n.x // 3 + 1) % 9 }}",
    "rounding": "{{ 1 | round(999999999, 'ceil') }}",
    "rounding down": "{{ 1 | round(precision=-999999999, method='floor') }}",
    "rounding a text": "{{ ('9' * 999999) | round(99999999) }}",
    "precision": "{{ '%.999999999f' % 1.5 }}",
    "width": "{{ '%999999999d' % 1 }}",
    "far too much width": "{{ '%99999999999d' % 1 }}",
    "width by a star": "{{ '%*d' % (999999999, 1) }}",
    "width of str.format": "{{ '{:>999999999}'.format('a') }}",
    "width by an argument": "{{ '{:>{}}'.format('a', 999999999) }}",
    "format of an attribute": "{{ '{0.__class__.__mro__}'.format(1) }}",
    "bytes of a number": "{{ (1).to_bytes(999999999, 'big') | length }}",
    "range": "{{ range(999999999999) | list | length }}",
}
_TEXTS = {
    "repetition": "{{ 'x' * 999999999 }}",
    "repetition from the left": "{{ 999999999 * 'x' }}",
    "far too much repetition": "{{ 'x' * 999999999999 }}",
    "repetition of a list": "{{ ([0] * 999999999) | length }}",
    "repetition by a float": "{{ ('x' * 1e300) | length }}",
    "doubled": _grown("'aaaaaaaaaa'", "n.x ~ n.x") + "{{ n.x | length }}",
    "added up": _grown("'aaaaaaaaaa'", "n.x + n.x") + "{{ n.x | length }}",
    "lists added up": _grown("[1]", "n.x + n.x") + "{{ n.x | length }}",
    "lists of lists": _grown("[1]", "[n.x, n.x]") + "{{ n.x | pprint | length }}",
    "lists of lists, flat": _grown("[1]", "n.x | map('string') | list + n.x", 99) + "{{ n.x }}",
    "replaced": "{{ ('x' * 99999) | replace('x', 'y' * 99999) | length }}",
    "replaced by a method": "{{ ('x' * 99999).replace('', 'y' * 99999) | length }}",
    "joined": "{{ ('x' * 99999) | join('y' * 99999) | length }}",
    "joined by a method": "{{ ('y' * 99999).join('x' * 99999) | length }}",
    "joined parts": "{{ (['y' * 99999] * 99999) | join | length }}",
    "inserted": "{% set a = 'x' * 99999 %}{{ ('%s' * 9999) % ((a,) * 9999) }}",
    "formatted": "{% set a = 'x' * 99999 %}{{ ('%s' * 9999) | format(*((a,) * 9999)) }}",
    "in braces": "{{ ('{}' * 9999).format(*(('x' * 99999,) * 9999)) }}",
    "translated": "{{ ('x' * 99999).translate({120: 'y' * 99999}) | length }}",
    "to the left": "{{ 'x'.ljust(999999999) }}",
    "to the right": "{{ 'x'.rjust(999999999) }}",
    "bytes to the left": "{{ 'a'.encode().ljust(999999999) | length }}",
    "in the middle": "{{ 'x' | center(999999999) }}",
    "in the middle by a method": "{{ 'x'.center(999999999) }}",
    "tabs": "{{ '\\t'.expandtabs(999999999) }}",
    "zeros": "{{ '1'.zfill(999999999) }}",
    "indented": "{{ ('\n' * 99999) | indent(99999, blank=true) }}",
    "indented JSON": "{{ {'a': [1] * 999} | tojson(indent=9999999) }}",
    "lorem ipsum": "{{ lipsum(n=99999) | length }}",
    "wrapped": "{{ ('x' * 9999999) | wordwrap(1) | length }}",
    "without tags": "{{ ('<!-- ' * 999999) | striptags | length }}",
    "links": "{{ ('www.a.' * 999999) | urlize | length }}",
    "batch": "{{ ([1] | batch(999999999, 'x') | list)[0] | length }}",
    "slices": "{{ messages | slice(999999999) | list | length }}",
    "a date": "{{ strftime_now('%c' * 9999999) | length }}",
    "a long chain": "{% set a = 'x' * 9999999 %}{{ (a" + " ~ a" * 500 + ") | length }}",
    "a refusal": "{{ raise_exception('x' * 99999999) }}",
    "a key": "{{ {}['x' * 99999999]['y'] }}",
    "upper case": "{{ ('ß' * 99999999) | upper | length }}",
    "a block": "{% set a = 'x' * 999999 %}{% set b %}" + "{{ a }}" * 999 + "{% endset %}{{ b }}",
    "output": "{% for a in range(99999) %}" + "blah " * 50 + "{% endfor %}",
}
_LOOPS = {
    "loops": LOOPS + _END,
    "busy loops": LOOPS + "{% set x = a * b + c %}" + _END,
    "loops that write": LOOPS + "x" + _END,
    "loops that keep": "{% set n = namespace(l=[]) %}" + LOOPS + "{% set n.l = [n.l, a] %}" + _END,
    "loops over a text": "{% for a in 'x' * 99999999 %}{% endfor %}",
    "loops in a filter": "{{ range(99999) | map('list') | list }}",
    "loops in a call": "{% set r = range(99999) | list %}{{ r | map('in', r) | list | length }}",
    "loops that search": "{% set r = range(99999) | list %}"
    "{{ r | reject('in', r) | list | length }}",
    "loops with a condition": "{% for a in range(99999) if range(99999) | sum < 0 %}{% endfor %}",
    "loops in calls of a macro": "{% macro f() %}{% for a in range(99999) %}x{% endfor %}"
    "{% endmacro %}{% for a in range(99999) %}{% set x = f() %}{% endfor %}",
    "a large template": "{{ messages[0].content }}" * 40_000,
    "many variables": "".join(f"{{% set v{i} = {i} %}}" for i in range(20_000)),
}
_OWN = "{% set x = [] %}{% set _ = x.append(x) %}"
_OWN_LISTS = {
    "in itself, as JSON": _OWN + "{{ x | tojson }}",
    "in itself, compared": _OWN + "{% set y = [] %}{% set _ = y.append(y) %}{{ x == y }}",
    "in itself, summed": _OWN
    + "{% for i in range(99999) %}{% set _ = x.append(x + x) %}{% endfor %}",
    "of long texts": "{% set x = [] %}{% for i in range(99999) %}"
    "{% set _ = x.append(i | string * 10000) %}{% endfor %}",
    "that grows while it is read": "{% set x = [1] %}{% for i in x %}{% set _ = x.append(i) %}"
    "{% endfor %}",
}
_WAYS_OUT = (
    "''.__class__.__mro__", "messages.__class__.__base__.__subclasses__()",
    "raise_exception.__globals__['sys'].exit()", "strftime_now.__globals__.datetime.sys",
    "cycler.__init__.__globals__.os.system('true')", "namespace.__init__.__globals__.x",
    "joiner.__init__.__builtins__.open('/etc/passwd')", "(''|attr('__class__')).mro()",
    "('{0.__class__.__mro__}'.format(1))[0].x.y", "self.__init__.__globals__.x",
    "messages[0].content.__len__.__self__", "([]|map(attribute='__class__')|list)[0].mro",
    "lipsum.__globals__.os.system('true')", "'{0.__init__.__globals__}'.format(cycler).x.y",
    "'{x.__class__}'.format_map({'x': 1}).x.y", "self._TemplateReference__context.environment.x",
    "messages.append(messages)", "messages.pop()", "[1].clear()", "messages[0].update(role='x')",
    "dict.__subclasses__()", "range.__class__.__call__", "loop.__init__",
    "caller.__code__", "().__reduce__()",
)  # fmt: skip
WAYS_OUT = {f"way out: {each}": f"{{{{ {each} }}}}" for each in _WAYS_OUT}
"""Each of them fails."""
ATTACKS = {
    **{f"nested lists: {each}": f"{_nested('list')}{{{{ {each} }}}}" for each in _COMPARED},
    **{f"nested lists: {each}": f"{_nested('list')}{{{{ {each} }}}}" for each in _PUT_INTO_WORDS},
    **{f"nested tuples: {each}": f"{_nested('tuple')}{{{{ {each} }}}}" for each in _HASHED},
    **{f"deep: {name}": source for name, source in _DEEP.items()},
    **{f"numbers: {name}": source for name, source in _NUMBERS.items()},
    **{f"texts: {name}": source for name, source in _TEXTS.items()},
    **{f"loops: {name}": source for name, source in _LOOPS.items()},
    **{f"own lists: {name}": source for name, source in _OWN_LISTS.items()},
    **WAYS_OUT,
}
"""Every one by its name; some are put up with, as far as time and memory allow."""
