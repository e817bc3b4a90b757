import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { programIn } from '../../cli/program.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { RULES } from './alerting.ts'

const CASES = join(ROOT, 'test/operations/prometheus/rules-cases.yml')

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('promtool accepts the rules, and each alert fires when it should', () => {
  promtool(['check', 'rules', RULES])
  promtool(['test', 'rules', CASES])
})

test('each rule has a case in which it fires and one in which it does not', () => {
  const cases = readFileSync(CASES, 'utf8')
  const alerts = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name,
  )
  assert.ok(alerts.length > 0)
  for (const name of alerts) {
    const [, ...parts] = cases.split(`alertname: ${name}\n`)
    const expected = parts.map((part) => part.split('alertname:')[0]!)
    assert.ok(
      expected.some((part) => part.includes('exp_alerts: []')),
      `${name} without an alert`,
    )
    assert.ok(
      expected.some((part) => part.includes('exp_labels:')),
      `${name} with an alert`,
    )
  }
})

test('each rule uses only metrics that are documented', () => {
  const documented = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8')
  for (const [name] of readFileSync(RULES, 'utf8').matchAll(/server_listing_\w+/g))
    assert.ok(documented.includes(`\`${name.replace(/_(bucket|sum|count)$/, '')}\``), name)
})

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`promtool finds no fault in the metrics on ${engine}`, async (t) => {
    const env: Record<string, string> =
      engine === 'SQLite' ? {} : { DATABASE_URL: await createDatabase(server) }
    const served = await programIn(t).serve({ env })
    await served.written(/metrics at http/)
    const port = Number(/metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
    for (const path of ['/v1/servers', '/health', '/x']) await ask(served.port, { path })
    const metrics = () => ask(port, { path: '/metrics' })
    await eventually(async () => /server_listing_database_bytes \d/.test((await metrics()).body))
    promtool(['check', 'metrics'], (await metrics()).body)
  })

function promtool(args: string[], input = ''): void {
  const { status, stdout, stderr, error } = spawnSync('/usr/bin/promtool', args, {
    input,
    encoding: 'utf8',
  })
  assert.equal(error, undefined)
  assert.equal(status, 0, stdout + stderr)
}
