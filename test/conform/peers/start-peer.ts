import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'

const PEERS = join(ROOT, 'bench/peers')

/** Starts a program of `bench/peers/` and returns its port, as it prints it. */
export async function startPeer(
  t: Pick<TestContext, 'after'>,
  file: string,
  args: readonly string[],
): Promise<number> {
  const child = spawn(process.execPath, [join(PEERS, file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => end(child))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const ended = once(child, 'close').then(() => {
    throw new Error(`${file} has ended. Run npm ci --prefix bench/peers (bench/README.md)`)
  })
  ended.catch(() => {})
  for (;;) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]
    if (port !== undefined) return Number(port)
    await Promise.race([once(child.stdout, 'data'), ended])
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
