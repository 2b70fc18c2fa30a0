"""LiteLLM: chat, stream, schema, forced tool and its second turn, logprobs, an error."""

import json
import sys

import litellm

URL = sys.argv[1]
HELLO = [{"role": "user", "content": "What is the capital of France?"}]
TOOLS = json.loads(sys.argv[2])
SCHEMA = json.loads(sys.argv[3])


def ask(messages, **more):
    more.setdefault("max_tokens", 60)
    return litellm.completion(
        model="openai/any", api_base=f"{URL}/v1", api_key="none", messages=messages,
        temperature=0, num_retries=0, **more,
    )  # fmt: skip


found = {"chat": ask(HELLO).choices[0].message.content}
found["stream"] = "".join(part.choices[0].delta.content or "" for part in ask(HELLO, stream=True))
form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
found["schema"] = ask(HELLO, response_format=form).choices[0].message.content
called = ask(HELLO, tools=TOOLS, tool_choice="required", max_tokens=300)
call = called.choices[0].message.tool_calls[0]
found["tool"] = [call.function.name, call.function.arguments, called.choices[0].finish_reason]
second = [
    *HELLO,
    called.choices[0].message.model_dump(),
    {"role": "tool", "tool_call_id": call.id, "content": "It is sunny."},
]
found["second"] = ask(second, tools=TOOLS, tool_choice="none").choices[0].message.content
logprobs = ask(HELLO, logprobs=True, top_logprobs=3).choices[0].logprobs.content
found["logprobs"] = [len(logprobs), len(logprobs[0].top_logprobs)]
for _ in ask(HELLO, stream=True, max_tokens=1000):
    break
try:
    ask([{"role": "user", "content": "word " * 30_000}])
except litellm.BadRequestError as error:
    found["error"] = str(error)
print(json.dumps(found))
