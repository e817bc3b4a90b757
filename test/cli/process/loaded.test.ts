import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAda } from '../ada.ts'
import { PRINT_LOADED } from '../process.ts'
import { programIn } from '../program.ts'

const LIST = 'key list --user ada@example.com'

/** Prints the modules that are loaded from a file, each on its line. */
const PRINT_FILES = `
  import { registerHooks } from 'node:module'
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) console.error(url)
      return next(url, context)
    },
  })
`

test('a command loads nothing of what only the service needs', async (t) => {
  const program = programIn(t)
  await addAda(program)
  const { code, stderr } = await program.begin(LIST, { preload: PRINT_LOADED }).ended
  assert.equal(code, 0)
  assert.match(stderr, /NativeModule sqlite/)
  assert.doesNotMatch(
    stderr,
    /NativeModule (http|https|http2|tls|crypto|internal\/deps\/undici\/undici)\b/,
  )
})

test('a command loads its own code and one engine, without what decides claims', async (t) => {
  const program = programIn(t)
  await addAda(program)
  const { stderr } = await program.begin(LIST, { preload: PRINT_FILES }).ended
  assert.match(stderr, /\/src\/keys\/commands\/keys\.ts\n/)
  assert.match(stderr, /\/src\/sqlite\/store\.ts\n/)
  assert.doesNotMatch(stderr, /\/src\/([a-z-]+\/)?claims\/|\/src\/postgres\/|\/pg\/|\/pino\//)
  assert.doesNotMatch(stderr, /\/commands\/(migrate|restore|serve|servers)\.ts/)
})
