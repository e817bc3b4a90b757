import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Debian's Prometheus. */
export interface Prometheus {
  /** The values of an expression at the last scrape. Fails if it does not parse. */
  valuesOf(expression: string): Promise<number[]>
  /** The values of a label in the series that match. */
  labelsOf(series: string, label: string): Promise<string[]>
}

/** Its data and its configuration are in the folder. */
export async function startPrometheus(
  t: TestContext,
  folder: string,
  config: string,
): Promise<Prometheus> {
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, config)
  const port = await startListening(t, '/usr/bin/prometheus', [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'prometheus')}`,
  ])

  /** Undefined while Prometheus starts. */
  async function ask(path: string, query: Record<string, string>): Promise<unknown> {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query).toString()}`
    const answer = await fetch(url)
    if (answer.status === 503) return undefined
    const { data, error } = (await answer.json()) as { data?: unknown; error?: string }
    assert.equal(answer.status, 200, `${url}: ${error}`)
    return data
  }

  return {
    async valuesOf(expression) {
      const data = (await ask('query', { query: expression })) as Vector | undefined
      return (data?.result ?? []).map(({ value: [, value] }) => Number(value))
    },

    async labelsOf(series, label) {
      const data = await ask(`label/${label}/values`, { 'match[]': series })
      return (data as string[] | undefined) ?? []
    },
  }
}

interface Vector {
  result: { value: [number, string] }[]
}

/** Starts a program on a free port and resolves to the port when it listens. */
export async function startListening(
  t: TestContext,
  program: string,
  args: string[],
): Promise<number> {
  const child = spawn(program, [...args, '--web.listen-address=127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => end(child))
  let written = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written += text))
  for (;;) {
    const port = /msg="Listening on" address=127\.0\.0\.1:(\d+)/.exec(written)?.[1]
    if (port !== undefined) return Number(port)
    const [ended] = await Promise.race([once(child.stderr, 'data'), once(child, 'close')])
    assert.equal(typeof ended, 'string', `${program} ended: ${written}`)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
