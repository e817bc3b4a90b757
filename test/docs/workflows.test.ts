import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesIn, ROOT } from '../fixtures/tree.ts'
import manifest from '../../package.json' with { type: 'json' }

/*
 * The workflows run scripts of the repository, which the tests run too, and fixed versions of the
 * actions of others.
 */

const lines = filesIn('.github/workflows', '.yml').flatMap(({ text }) => text.split('\n'))

test('each action has the hash of its commit and its version, the same in every workflow', () => {
  const uses = lines.flatMap((line) => /\buses: (.*)$/.exec(line)?.[1] ?? [])
  const others = uses.filter((each) => !(each.startsWith('./') && existsSync(join(ROOT, each))))
  const pinned = others.map((each) => /^([\w-]+\/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.exec(each))
  assert.ok(pinned.length > 4)
  assert.deepEqual(
    pinned.map((each) => each?.[0]),
    others,
  )
  assert.equal(new Set(others).size, new Set(pinned.map((each) => each![1])).size)
})

test('each script that a workflow runs exists', () => {
  const run = lines.flatMap((line) => /\brun: (?:sudo )?(.*)$/.exec(line)?.[1] ?? [])
  const scripts = run.flatMap((each) => /^npm run ([\w:]+)/.exec(each)?.[1] ?? [])
  const programs = run.flatMap((each) => /^\.ci\/\w+/.exec(each)?.[0] ?? [])
  assert.ok(scripts.length > 0 && programs.includes('.ci/image'))
  for (const each of scripts) assert.ok(Object.hasOwn(manifest.scripts, each), each)
  for (const each of programs) assert.ok(existsSync(join(ROOT, each)), each)
})
