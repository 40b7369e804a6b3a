#!/usr/bin/env python3
"""CTranslate2 behind FastAPI and uvicorn, as such servers are usually written: requests are queued for a few milliseconds
or until a batch is full, and a thread beside the event loop translates the batch.

    ctranslate2_server.py FOLDER --port 5001 [OPTION...]          (FOLDER: of to_ctranslate2.py)

POST /translate takes {"q": TEXT} and answers {"translatedText": TEXT}.
"""
import asyncio
import contextlib

import ctranslate2_lines
import fastapi
import pydantic
import uvicorn


def options():
    p = ctranslate2_lines.parser(__doc__)
    p.add_argument("--port", type=int, required=True)
    p.add_argument("--largest-batch", type=int, default=64, help="maximum number of requests in a batch")
    p.add_argument("--wait", type=float, default=5, help="milliseconds that the first request of a batch waits for others")
    return p.parse_args()


class Batches:
    """Collects requests into batches."""

    def __init__(self, a):
        self.a, self.filter, self.queue = a, ctranslate2_lines.Filter(a), asyncio.Queue()

    async def translate(self, text):
        answer = asyncio.get_running_loop().create_future()
        await self.queue.put((text, answer))
        return await answer

    async def next_batch(self):
        batch = [await self.queue.get()]
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(self.a.wait / 1000):
                while len(batch) < self.a.largest_batch:
                    batch.append(await self.queue.get())
        while len(batch) < self.a.largest_batch and not self.queue.empty():
            batch.append(self.queue.get_nowait())
        return batch

    async def run(self):
        while True:
            texts, answers = zip(*await self.next_batch())
            for answer, text in zip(answers, await asyncio.to_thread(self.filter.translate, list(texts))):
                answer.set_result(text)


class Request(pydantic.BaseModel):
    q: str


def application(a):
    batches = Batches(a)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        task = asyncio.create_task(batches.run())
        yield
        task.cancel()

    app = fastapi.FastAPI(lifespan=lifespan)

    @app.post("/translate")
    async def translate(request: Request):
        return {"translatedText": await batches.translate(request.q)}

    return app


def main():
    a = options()
    uvicorn.run(application(a), host="127.0.0.1", port=a.port, log_level="warning")


if __name__ == "__main__":
    main()
