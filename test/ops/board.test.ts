import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { BOARD, type Board, BUILD, boardOf, readMetrics } from './board.ts'

/*
 * deploy/grafana/server-listing.json. `npm run record` writes it anew.
 */

test('the board for Grafana is the one of the documented metrics', () => {
  const board = boardOf(readMetrics())
  if (process.env.RECORD === '1') writeFileSync(BOARD, `${JSON.stringify(board, null, 2)}\n`)
  assert.deepEqual(readBoard(), board, 'run `npm run record` and `npm run format`')
})

test('each documented metric is in one panel of the board, and no other metric', () => {
  const shown = readBoard().panels.flatMap(({ targets }) => [
    ...new Set(targets.flatMap(({ expr }) => namesIn(expr))),
  ])
  assert.deepEqual(
    shown.toSorted(),
    readMetrics()
      .map(({ name }) => name)
      .toSorted(),
  )
})

test('the board uses the variables that it has, and each of them', () => {
  const { templating, ...rest } = readBoard()
  assert.deepEqual(new Set(namesIn(JSON.stringify(templating))), new Set([BUILD]))
  const variables = [...templating.list.map(({ name }) => name), '__rate_interval', '__all']
  const used = JSON.stringify({ templating, ...rest }).matchAll(/\$\{?(\w+)/g)
  assert.deepEqual(new Set([...used].map(([, name]) => name!)), new Set(variables))
})

test('the panels of the board have their own ids, titles and places', () => {
  const { panels } = readBoard()
  const taken = new Set<string>()
  for (const { gridPos: at } of panels) {
    assert.ok(at.x >= 0 && at.x + at.w <= 24)
    for (let x = at.x; x < at.x + at.w; x += 1)
      for (let y = at.y; y < at.y + at.h; y += 1) {
        assert.ok(!taken.has(`${x} ${y}`), `two panels at ${x} ${y}`)
        taken.add(`${x} ${y}`)
      }
  }
  for (const values of [panels.map(({ id }) => id), panels.map(({ title }) => title)])
    assert.equal(new Set<unknown>(values).size, panels.length)
})

/** The metrics of an expression. Histograms have a series for each bucket. */
function namesIn(text: string): string[] {
  const names = [...text.matchAll(/\b(?:server_listing|process)_\w+/g)].map(([name]) => name)
  return names.map((name) => name.replace(/_bucket$/, ''))
}

function readBoard(): Board {
  return JSON.parse(readFileSync(BOARD, 'utf8'))
}
