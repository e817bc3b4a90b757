import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { build } from 'rolldown'

const WORKERD = join(
  import.meta.dirname,
  `node_modules/@cloudflare/workerd-linux-${arch() === 'arm64' ? 'arm64' : '64'}/bin/workerd`,
)

/**
 * Runs a program in Cloudflare's runtime for workers, bundled as its tools do. Returns the URL of
 * the worker.
 */
export async function startWorker(t: TestContext, folder: string, entry: string): Promise<string> {
  await build({
    input: join(folder, entry),
    platform: 'browser',
    output: { file: join(folder, 'worker.js') },
  })
  const config = join(folder, 'worker.capnp')
  writeFileSync(config, CONFIG)
  const child: ChildProcess = spawn(WORKERD, ['serve', '--control-fd=3', config], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const lines = createInterface(child.stdio[3] as Readable)
  for await (const line of lines) {
    const { event, port } = JSON.parse(line)
    if (event === 'listen') return `http://127.0.0.1:${port}`
  }
  const [code] = await ended
  throw new Error(`workerd ended with ${String(code)} before it listened`)
}

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "worker", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
    )),
    # The service of the test is on the loopback address.
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);
`
