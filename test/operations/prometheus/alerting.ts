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
import { startListening, startPrometheus } from './prometheus.ts'

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
  const manager = await startListening(t, '/usr/bin/prometheus-alertmanager', [
    `--config.file=${file('alertmanager.yml', managerConfig(receiver.port))}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    '--cluster.listen-address=',
  ])
  file('rules.yml', readFileSync(RULES, 'utf8').replace(/\bfor: \w+/g, 'for: 1s'))
  const prometheus = await startPrometheus(t, folder, prometheusConfig(manager, opsPort))
  return {
    notices: receiver.notices,
    noticed: receiver.noticed,

    async shows(expression, wanted) {
      while ((await prometheus.valuesOf(expression))[0] !== wanted) await delay(50)
    },
  }
}

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
