import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

/** The rules that operators install. */
export const RULES = join(ROOT, 'deploy/prometheus/rules.yml')

/** One alert as a receiver gets it. */
export interface Notice {
  name: string
  status: 'firing' | 'resolved'
  summary: string
}

/** Debian's Prometheus and Alertmanager, which watch one service and call a receiver. */
export interface Alerting {
  /** What the receiver has got so far, in order. */
  notices: Notice[]
  /** Resolves when what the receiver has got fits. */
  noticed(fits: (notices: readonly Notice[]) => boolean): Promise<void>
  /** Resolves when an expression has this value at the last scrape. */
  shows(expression: string, value: number): Promise<void>
}

/** The alerts of the shipped rules, after one second instead of minutes. */
export async function startAlerting(t: TestContext, opsPort: number): Promise<Alerting> {
  const folder = temporaryFolder(t)
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const receiver = await startReceiver(t)
  const manager = await start(t, '/usr/bin/prometheus-alertmanager', [
    `--config.file=${file('alertmanager.yml', managerConfig(receiver.port))}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    '--cluster.listen-address=',
  ])
  file('rules.yml', readFileSync(RULES, 'utf8').replace(/\bfor: \w+/g, 'for: 1s'))
  const prometheus = await start(t, '/usr/bin/prometheus', [
    `--config.file=${file('prometheus.yml', prometheusConfig(manager, opsPort))}`,
    `--storage.tsdb.path=${join(folder, 'prometheus')}`,
  ])
  return {
    notices: receiver.notices,
    noticed: receiver.noticed,

    async shows(expression, wanted) {
      const url = `http://127.0.0.1:${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`
      for (;;) {
        const answer = await fetch(url)
        // Prometheus answers 503 while it starts.
        const { data } = answer.ok ? ((await answer.json()) as QueryAnswer) : NO_ANSWER
        if (Number(data.result[0]?.value[1]) === wanted) return
        await delay(50)
      }
    },
  }
}

interface QueryAnswer {
  data: { result: { value: [number, string] }[] }
}

const NO_ANSWER: QueryAnswer = { data: { result: [] } }

function managerConfig(port: number): string {
  return `
route: { receiver: test, group_wait: 0s, group_interval: 1s, repeat_interval: 1h }
receivers:
  - name: test
    webhook_configs: [{ url: 'http://127.0.0.1:${port}/', send_resolved: true }]
`
}

function prometheusConfig(managerPort: number, opsPort: number): string {
  return `
global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 200ms }
rule_files: [rules.yml]
alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:${managerPort}'] }] }] }
scrape_configs:
  - job_name: server-listing
    static_configs: [{ targets: ['127.0.0.1:${opsPort}'] }]
`
}

/** Starts a program on a free port and resolves to the port when it listens. */
async function start(t: TestContext, program: string, args: string[]): Promise<number> {
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

async function startReceiver(t: TestContext): Promise<{
  port: number
  notices: Notice[]
  noticed: Alerting['noticed']
}> {
  const notices: Notice[] = []
  const arrivals = new EventEmitter()

  async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { alerts } = (await json(incoming)) as { alerts: RawAlert[] }
    for (const { status, labels, annotations } of alerts)
      notices.push({ name: labels.alertname, status, summary: annotations.summary })
    outgoing.end()
    arrivals.emit('notices')
  }

  const server = createServer((incoming, outgoing) => void receive(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    notices,

    async noticed(fits) {
      while (!fits(notices)) await once(arrivals, 'notices')
    },
  }
}

interface RawAlert {
  status: Notice['status']
  labels: { alertname: string }
  annotations: { summary: string }
}
