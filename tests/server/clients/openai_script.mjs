// OpenAI's client for Node: chat, stream, schema, forced tool and its second turn, and so on.
import OpenAI from "openai";

const [url, tools, schema] = [process.argv[2], JSON.parse(process.argv[3]), JSON.parse(process.argv[4])];
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const hello = [{ role: "user", content: "What is the capital of France?" }];
const ask = (messages, more = {}) =>
  client.chat.completions.create({ model: "any", messages, temperature: 0, max_tokens: 60, ...more });

const found = {};
found.chat = (await ask(hello)).choices[0].message.content;
found.stream = "";
for await (const part of await ask(hello, { stream: true })) found.stream += part.choices[0]?.delta?.content ?? "";
found.schema = (
  await ask(hello, { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } })
).choices[0].message.content;
const called = await ask(hello, { tools, tool_choice: "required", max_tokens: 300 });
const message = called.choices[0].message;
const call = message.tool_calls[0];
found.tool = [call.function.name, call.function.arguments, called.choices[0].finish_reason];
const second = [...hello, message, { role: "tool", tool_call_id: call.id, content: "It is sunny." }];
found.second = (await ask(second, { tools, tool_choice: "none" })).choices[0].message.content;
const streamed = client.chat.completions.stream({
  model: "any", messages: hello, tools, tool_choice: "required", temperature: 0, max_tokens: 300,
});
const whole = await streamed.finalChatCompletion();
found.streamed_tool = [whole.choices[0].message.tool_calls[0].function.name, whole.choices[0].message.tool_calls[0].function.arguments];
const logprobs = (await ask(hello, { logprobs: true, top_logprobs: 3 })).choices[0].logprobs.content;
found.logprobs = [logprobs.length, logprobs[0].top_logprobs.length];
for await (const _ of await ask(hello, { stream: true, max_tokens: 1000 })) break;
try {
  await ask([{ role: "user", content: "word ".repeat(30000) }]);
} catch (error) {
  found.error = `${error.code} ${error.message}`;
}
console.log(JSON.stringify(found));
