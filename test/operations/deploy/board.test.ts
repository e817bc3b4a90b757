import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { BOARD, type Board } from '../../ops/board.ts'
import { findingsIn } from './schemas.ts'

/*
 * deploy/grafana/server-listing.json has the form of Grafana's own types. No Grafana shows it.
 */

test('the board has only fields and values that Grafana knows', (t) => {
  assert.equal(findingsOf(t, readBoard()), '')
})

test('the check finds fields and values that Grafana does not know', (t) => {
  const board = readBoard()
  const [stat, , , , graph] = board.panels
  Object.assign(stat!, { gridPos: { ...stat!.gridPos, z: 0 } })
  Object.assign(stat!.options, { textMode: 'names' })
  Object.assign(graph!.options, { legends: {} })
  const findings = findingsOf(t, board)
  assert.match(findings, /'"z"' does not exist/)
  assert.match(findings, /'"names"' is not assignable/)
  assert.match(findings, /'"legends"' does not exist/)
})

function findingsOf(t: TestContext, board: Board): string {
  const panels = board.panels.map(
    ({ type, options }, index) =>
      `const options${index}: Plain<Partial<${type}.Options>> = ${JSON.stringify(options)}`,
  )
  const from = '@grafana/schema/dist/esm/raw/composable'
  return findingsIn(
    t,
    `
import type { Dashboard } from '@grafana/schema'
import type * as stat from '${from}/stat/panelcfg/x/StatPanelCfg_types.gen'
import type * as timeseries from '${from}/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'
/** Enumerations as the texts and numbers of JSON. */
type Plain<T> = T extends string ? \`\${T}\`
  : T extends number | boolean | null | undefined ? T
  : { [K in keyof T]: Plain<T[K]> }
const board: Plain<Dashboard> = ${JSON.stringify(board)}
${panels.join('\n')}`,
  )
}

function readBoard(): Board {
  return JSON.parse(readFileSync(BOARD, 'utf8'))
}
