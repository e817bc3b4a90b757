import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { snippetsFor } from '../../../src/keys/pages/snippets.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { pasteBlocks, shownSnippets } from './pasted-blocks.ts'

/*
 * The programs on the page of a new key. test/operations/examples/ runs each in each of its ways.
 */

const EXPORT = 'Linux and macOS'

test('a newcomer who pastes the blocks of a new key into a fresh shell gets the servers', async (t) => {
  await pasteBlocks(t, [
    { setting: EXPORT, language: 'JavaScript' },
    { setting: 'A file .env', language: 'JavaScript' },
    ...(existsSync('/usr/bin/curl') ? [{ setting: EXPORT, language: 'curl' }] : []),
  ])
})

test('the page of a new key has a client in each language, and each way to set the key', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.post('/dashboard/api', { form: 'f', name: 'bot' })
  const [key = ''] = /svc_live_[0-9a-f]{64}/.exec(body) ?? []
  const settings = shownSnippets(body, 'setting')
  assert.deepEqual(
    settings.map(({ label }) => label),
    [EXPORT, 'Windows (PowerShell)', 'A file .env'],
  )
  for (const { blocks } of settings)
    assert.match(blocks[0]!.code, new RegExp(`SERVER_LISTING_KEY ?= ?'?${key}'?$`))
  const languages = shownSnippets(body, 'language')
  assert.deepEqual(
    languages.map(({ label }) => label),
    ['curl', 'JavaScript', 'Python', 'PHP', 'PowerShell'],
  )
  for (const { blocks, label } of languages) {
    assert.match(blocks[0]!.code, /SERVER_LISTING_KEY/)
    assert.match(blocks[0]!.code, /https:\/\/api\.example\.com\/v1\/servers/, label)
  }
  assert.match(body, /one request per second/)
})

test('a URL with quotes and dollars ends no string of any language', () => {
  for (const { blocks } of snippetsFor(`https://api.example.com/a'b"c$d\\e\`f`))
    assert.match(blocks[0]!.code, /api\.example\.com\/a%27b%22c%24d\/e%60f/)
})
