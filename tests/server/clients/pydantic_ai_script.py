"""pydantic-ai: chat, stream, schema, a tool that it calls itself with the second turn, an error."""

import asyncio
import json
import sys

from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

URL = sys.argv[1]
HELLO = "What is the capital of France?"
MODEL = OpenAIChatModel("any", provider=OpenAIProvider(base_url=f"{URL}/v1", api_key="none"))
SETTINGS = {"temperature": 0, "max_tokens": 60}


class City(BaseModel):
    name: str = Field(max_length=20)
    size: int = Field(ge=0, le=9)


async def main():
    agent = Agent(MODEL, model_settings=SETTINGS)
    found = {"chat": (await agent.run(HELLO)).output}
    async with agent.run_stream(HELLO) as stream:
        found["stream"] = "".join([part async for part in stream.stream_text(delta=True)])
    form = Agent(MODEL, output_type=NativeOutput(City), model_settings=SETTINGS)
    found["schema"] = (await form.run(HELLO)).output.model_dump_json()
    # The answer as a tool that must be called: pydantic-ai forces it and reads its arguments.
    forced = Agent(MODEL, output_type=City, model_settings=SETTINGS | {"max_tokens": 300})
    found["tool"] = ["final_result", (await forced.run(HELLO)).output.model_dump_json(), ""]
    again = await agent.run(
        "And of Italy?", message_history=(await agent.run(HELLO)).all_messages()
    )
    found["second"] = again.output
    try:
        await agent.run("word " * 30_000)
    except ModelHTTPError as error:
        found["error"] = str(error)
    print(json.dumps(found))


asyncio.run(main())
