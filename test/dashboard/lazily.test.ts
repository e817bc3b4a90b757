import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../cli/program.ts'
import { ask } from '../fixtures/requests.ts'

/** Records every module that the program loads in the file that LOADED names. */
const RECORDER = `
  import { appendFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED, url + '\\n')
      return next(url, context)
    },
  })
`

test('the setup link works once, and the first request loads the dashboard', async (t) => {
  const program = programIn(t)
  const file = join(program.folder, 'loaded')
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`
  const served = await program.serve({ env: { NODE_OPTIONS, LOADED: file } })
  const hasLoaded = (path: string) => readFileSync(file, 'utf8').includes(`/${path}\n`)
  await served.written(/no account yet/)
  const link = /http:\/\/127\.0\.0\.1:(\d+)(\/setup\/[0-9a-f]{32})/.exec(served.stdout())
  const [, port, path = ''] = link ?? []
  assert.ok(hasLoaded('src/web/listen.ts'))
  for (const late of [
    'src/dashboard/app.ts',
    'src/accounts/sign-in/accounts.ts',
    'hono/dist/preset/tiny.js',
  ])
    assert.ok(!hasLoaded(late), `${late} was loaded already`)
  const { status, body } = await ask(Number(port), { path })
  assert.deepEqual([status, /Create the first account/.test(body)], [200, true])
  for (const late of [
    'src/dashboard/app.ts',
    'src/accounts/sign-in/accounts.ts',
    'hono/dist/preset/tiny.js',
  ])
    assert.ok(hasLoaded(late), `${late} was not loaded`)

  await program.done('user add ada@example.com --password-stdin --create', {
    stdin: 'correct horse battery staple',
  })
  assert.equal((await ask(Number(port), { path })).status, 404)
})
