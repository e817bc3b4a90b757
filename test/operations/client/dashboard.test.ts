import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { ROOT } from '../../fixtures/tree.ts'

const run = promisify(execFile)

test("the README's npm install takes the client from a dashboard, and its program reads a listing", async (t) => {
  const { url, apiPort, store } = await startDashboard(t)
  const entry = { name: 'Survival', address: 'play.example.com' }
  const { key } = await addOwner(store, 'ada@example.com', [entry])
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'package.json'), '{"private":true}')
  const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')
    .replaceAll('https://listing.example.com', url)
    .replaceAll('https://api.example.com', `http://127.0.0.1:${apiPort}`)
  const [, ...install] = /^npm install .*/m.exec(readme)![0].split(' ')
  // Every other source would be a mistake.
  const options = ['--registry=http://127.0.0.1:1', `--cache=${join(cwd, 'cache')}`, '--no-audit']
  const env = { ...process.env, SERVER_LISTING_KEY: key }
  await run('npm', [...install, ...options], { cwd, env })
  writeFileSync(join(cwd, 'list.mjs'), /^```js\n(.*?)^```/ms.exec(readme)![1]!)
  const { stdout } = await run(process.execPath, ['list.mjs'], { cwd, env })
  assert.equal(stdout, 'Survival play.example.com\n')
})
