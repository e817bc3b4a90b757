import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'
import { once } from '../../fixtures/within.ts'

export interface TracedService {
  port: number
  /** What the service has printed so far. */
  output(): string
  end(): Promise<void>
}

/** Serves a SQLite file under strace, with these options of strace. */
export async function serveTraced(
  t: TestContext,
  path: string,
  options: readonly string[],
): Promise<TracedService> {
  // The tracer is a grandchild, so that the child is the service.
  const strace = ['-D', '-f', '-qq', ...options]
  const program = [process.execPath, join(ROOT, 'bin/server-listing.js'), 'serve']
  const child = spawn('strace', [...strace, ...program], {
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${path}`,
      PORT: '0',
      DASHBOARD_PORT: '0',
      OPS_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  while (!output.includes('listening on')) await once(child.stdout, 'data')
  return {
    port: Number(/listening on http:\/\/[^\s"]*:(\d+)/.exec(output)?.[1]),
    output: () => output,
    async end() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
