import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { programIn } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { BOARD, type Board } from '../../ops/board.ts'
import { startPrometheus } from './prometheus.ts'

const { panels, templating }: Board = JSON.parse(readFileSync(BOARD, 'utf8'))
/** What Grafana writes for the variables. */
const CHOSEN: Record<string, string> = {
  job: 'server-listing',
  instance: '.+',
  __rate_interval: '5s',
}

test('Prometheus has a number for each query of the board, from either engine', async (t) => {
  const served = [await serveSqlite(t), await servePostgres(t)]
  const targets = served.map(({ opsPort }) => `'127.0.0.1:${opsPort}'`)
  const prometheus = await startPrometheus(t, temporaryFolder(t), configOf(targets))
  const queries = panels.flatMap(({ title, targets: asked }) =>
    asked.map(({ expr }) => ({ title, expr: expr.replaceAll(/\$(\w+)/g, chosen) })),
  )
  assert.ok(queries.length >= panels.length)
  for (const { title, expr } of queries)
    await t.test(`${title}: ${expr}`, () =>
      eventually(async () => {
        for (const { port } of served) await ask(port, { path: '/health' })
        return (await prometheus.valuesOf(expr)).some(Number.isFinite)
      }),
    )
  for (const { name, query } of templating.list) {
    if (typeof query === 'string') continue
    const [, series = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query.query)!
    const values = await prometheus.labelsOf(series.replaceAll(/\$(\w+)/g, chosen), label)
    assert.equal(values.length, name === 'instance' ? served.length : 1, name)
  }
})

const chosen = (_: string, name: string): string => CHOSEN[name]!

function configOf(targets: readonly string[]): string {
  return `
global: { scrape_interval: 500ms, scrape_timeout: 500ms }
scrape_configs:
  - job_name: server-listing
    static_configs: [{ targets: [${targets.join()}] }]
`
}

interface Ports {
  port: number
  opsPort: number
}

/** The service reads the time of the last backup at its start. */
async function serveSqlite(t: TestContext): Promise<Ports> {
  const program = programIn(t)
  await program.done('migrate')
  await program.done(['backup', join(program.folder, 'archive')])
  return serve(program, {})
}

async function servePostgres(t: TestContext): Promise<Ports> {
  const server = await openServer()
  t.after(() => server.remove())
  return serve(programIn(t), { DATABASE_URL: await createDatabase(server) })
}

async function serve(
  program: ReturnType<typeof programIn>,
  env: Record<string, string>,
): Promise<Ports> {
  const served = await program.serve({ env })
  await served.written(/metrics at http/)
  const [, opsPort] = /metrics at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())!
  return { port: served.port, opsPort: Number(opsPort) }
}
