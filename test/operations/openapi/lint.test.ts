import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

/*
 * docs/openapi.json keeps the rules of OpenAPI 3.1 and of Redocly's linter, which
 * `npm ci --prefix scripts/openapi` installs.
 */

const TOOLS = join(ROOT, 'scripts/openapi')
const LINTER = join(TOOLS, 'node_modules/@redocly/cli/bin/cli.js')
const DOCUMENT = join(ROOT, 'docs/openapi.json')
const ENV = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

test('the API description has no finding of the linter', () => {
  const { status, printed } = lint(DOCUMENT)
  assert.equal(status, 0, printed)
  assert.match(printed, /1 problem is explicitly ignored/)
})

test('the description of the management API has no finding of the linter', () => {
  const { status, printed } = lint(join(ROOT, 'docs/management-openapi.json'), 'management.yaml')
  assert.equal(status, 0, printed)
})

test('the linter finds a mistake in the API description', (t) => {
  const path = join(temporaryFolder(t), 'openapi.json')
  const mistakes: Record<string, (document: { paths: Record<string, unknown> }) => void> = {
    struct: ({ paths }) => (paths['/v2'] = { fetch: {} }),
    'security-defined': (document) => Object.assign(document, { security: [{ unknown: [] }] }),
    'no-unresolved-refs': ({ paths }) => (paths['/v2'] = { $ref: '#/components/nothing' }),
  }
  for (const [rule, plant] of Object.entries(mistakes)) {
    const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'))
    plant(document)
    writeFileSync(path, JSON.stringify(document))
    const { status, printed } = lint(path)
    assert.equal(status, 1, printed)
    assert.ok(printed.includes(`by the ${rule} rule`), printed)
  }
})

function lint(path: string, rules = 'redocly.yaml'): { status: number | null; printed: string } {
  const config = join(TOOLS, rules)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [LINTER, 'lint', '--config', config, path],
    { cwd: ROOT, env: ENV, encoding: 'utf8' },
  )
  return { status, printed: stdout + stderr }
}
