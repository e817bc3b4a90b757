import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { examplesOf } from './examples.ts'
import { openScene, type Scene } from './scene.ts'

/*
 * Every example in the help of every command, run by a shell in a folder that has what the example
 * names.
 */

let postgres: Server
let scene: Scene

before(async () => {
  postgres = await openServer()
  scene = openScene(postgres)
})

after(async () => {
  scene.remove()
  await postgres.remove()
})

test('each command has an example', () => {
  const examples = examplesOf(scene)
  assert.ok(examples.size > 25)
  for (const [command, lines] of examples) assert.ok(lines.length > 0, command)
})

test('each example of the help runs', { concurrency: 4 }, async (t) => {
  const examples = examplesOf(scene)
  // The tests of the kit run these two against a service of their own.
  examples.delete('conform')
  const lines = [...new Set([...examples.values()].flat())]
  await Promise.all(
    lines.map((line) =>
      t.test(line, async () => {
        const { code, output } = await scene.run(line)
        assert.equal(code, 0, output)
      }),
    ),
  )
})
