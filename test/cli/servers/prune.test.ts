import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { runHere, setDatabase } from '../here.ts'

const IMPORT = 'server import --user ada@example.com'
const entries = (...names: string[]) =>
  JSON.stringify(names.map((name) => ({ name, address: `${name}.example.com` })))

test('import --prune makes the servers equal to the file, and --dry-run only says so', async (t) => {
  await fill(t)
  await runHere(`${IMPORT} --organization red-stone -`, entries('ours'))
  const dry = await runHere(`${IMPORT} --prune --dry-run -`, entries('b', 'c'))
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(dry.stderr, /^nothing was imported: .* would be 1 new, 1 updated, 1 removed\n$/)
  assert.deepEqual(await names(), ['a', 'b', 'ours'])
  const refused = await runHere(`${IMPORT} --prune -`, entries('b', 'c'))
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /this would remove 1 server of ada@example\.com from .* --yes/)
  assert.deepEqual(await names(), ['a', 'b', 'ours'])
  const done = await runHere(`${IMPORT} --prune --yes -`, entries('b', 'c'))
  assert.match(done.stderr, /^imported 2 servers .*: 1 new, 1 updated, 1 removed\n/)
  // Servers under an organization are another place.
  assert.deepEqual(await names(), ['b', 'c', 'ours'])
  const again = await runHere(`${IMPORT} --prune -`, entries('b', 'c'))
  assert.match(again.stderr, /0 new, 2 updated, 0 removed/)
  await runHere(`${IMPORT} --organization red-stone --prune --yes -`, entries('other'))
  assert.deepEqual(await names(), ['b', 'c', 'other'])
})

test('a dry run for a missing organization creates none', async (t) => {
  await fill(t)
  const dry = await runHere(`${IMPORT} --organization new --dry-run -`, entries('a'))
  assert.match(dry.stderr, /for ada@example\.com under new .* would be 1 new, 0 updated, 0 removed/)
  assert.equal((await runHere('organization list --json')).stdout, '[]\n')
})

test('server remove takes all ids or none', async (t) => {
  await fill(t)
  const listed = JSON.parse((await runHere('server list --user ada@example.com --json')).stdout)
  const [one, other] = listed.map(({ id }: { id: string }) => id)
  const unknown = await remove(`--yes ${one} no-id`)
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /nothing was removed: ada@example\.com has no server .* "no-id"/)
  const refused = await remove(`${one} ${one}`)
  assert.equal(refused.code, 2)
  assert.match(
    refused.stderr,
    /would remove 1 server of .*: "[ab]" \([ab]\.example\.com\)\. Add --yes/,
  )
  assert.deepEqual(await names(), ['a', 'b'])
  const both = await remove(`--json --yes ${one} ${other}`)
  assert.deepEqual(JSON.parse(both.stdout), listed)
  assert.match(both.stderr, /^removed 2 servers of ada@example\.com\ndatabase: /)
  assert.deepEqual(await names(), [])
})

const remove = (args: string) => runHere(`server remove --user ada@example.com ${args}`)

/** Ada with the servers a and b. */
async function fill(t: TestContext): Promise<void> {
  setDatabase(t, `sqlite:${join(temporaryFolder(t), 'listing.db')}`)
  await runHere('user add ada@example.com --create')
  await runHere(`${IMPORT} -`, entries('a', 'b'))
}

async function names(): Promise<string[]> {
  const { stdout } = await runHere('server list --user ada@example.com --json')
  return JSON.parse(stdout)
    .map(({ name }: { name: string }) => name)
    .toSorted()
}
