import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesBelow } from '../fixtures/tree.ts'

test('the client imports only its own files, so that it runs in every runtime', () => {
  for (const { path, text } of filesBelow('client/src', '.ts')) {
    const found = text.matchAll(/(?:from|import|require)\s*\(?\s*['"]([^'"]+)/g)
    for (const [, target = ''] of found)
      assert.match(target, /^\.\/[\w-]+\.ts$/, `${path} imports ${target}`)
  }
})
