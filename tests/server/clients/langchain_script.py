"""LangChain's client: chat, stream, schema, forced tool and its second turn, logprobs, an error."""

import json
import sys

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

URL, TOOLS, SCHEMA = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
HELLO = [HumanMessage("What is the capital of France?")]


def model(**more):
    more.setdefault("max_tokens", 60)
    return ChatOpenAI(
        model="any", base_url=f"{URL}/v1", api_key="none", temperature=0, max_retries=0, **more
    )


found = {"chat": model().invoke(HELLO).content}
found["stream"] = "".join(part.content for part in model().stream(HELLO))
structured = model().with_structured_output({"title": "answer", **SCHEMA}, method="json_schema")
found["schema"] = json.dumps(structured.invoke(HELLO))
bound = model(max_tokens=300).bind_tools(TOOLS, tool_choice="required")
called = bound.invoke(HELLO)
call = called.tool_calls[0]
found["tool"] = [
    call["name"], json.dumps(call["args"]), called.response_metadata["finish_reason"],
]  # fmt: skip
second = [*HELLO, called, ToolMessage("It is sunny.", tool_call_id=call["id"])]
found["second"] = model().bind_tools(TOOLS, tool_choice="none").invoke(second).content
told = model(logprobs=True, top_logprobs=3).invoke(HELLO).response_metadata["logprobs"]["content"]
found["logprobs"] = [len(told), len(told[0]["top_logprobs"])]
for _ in model(max_tokens=1000).stream(HELLO):
    break
try:
    model().invoke([HumanMessage("word " * 30_000)])
except openai.BadRequestError as error:
    found["error"] = str(error)
print(json.dumps(found))
