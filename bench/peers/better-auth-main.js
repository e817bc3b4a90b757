import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { LIMITED, openListing, UNAUTHORIZED } from './listing.js'

/*
 * The same API with better-auth's api-key plug-in in front of the list. It makes keys of its own.
 * Arguments: the path of the database, a file for the keys, and their number.
 */

const [path, keysPath, count] = process.argv.slice(2)
const database = new DatabaseSync(path)
const listing = openListing(database)
const authDatabase = new DatabaseSync(`${path}-auth`)
authDatabase.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
const options = {
  database: authDatabase,
  secret: 'a secret that protects nothing in a benchmark',
  baseURL: 'http://127.0.0.1',
  emailAndPassword: { enabled: true },
  // It logs each refusal with a stack.
  logger: { disabled: true },
  plugins: [
    apiKey({
      enableMetadata: true,
      rateLimit: { enabled: true, timeWindow: 1_000, maxRequests: 1 },
    }),
  ],
}
const { runMigrations } = await getMigrations(options)
await runMigrations()
const auth = betterAuth(options)

const owners = database.prepare('SELECT id FROM users ORDER BY id LIMIT ?').all(Number(count))
const { user } = await auth.api.signUpEmail({
  body: { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
})
const keys = []
for (const owner of owners) {
  const made = await auth.api.createApiKey({
    body: { userId: user.id, metadata: { owner: owner.id } },
  })
  keys.push(made.key)
}
writeFileSync(keysPath, `${keys.join('\n')}\n`)

const server = createServer((request, response) => {
  void answer(request).then(([status, body]) => {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  })
})

async function answer(request) {
  const sent = request.headers.authorization?.replace('Bearer ', '') ?? ''
  const { valid, error, key } = await auth.api.verifyApiKey({ body: { key: sent } })
  if (valid) return [200, listing.serversFor({ id: key.id, user_id: key.metadata.owner })]
  return error?.code === 'RATE_LIMITED' ? [429, LIMITED] : [401, UNAUTHORIZED]
}

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
