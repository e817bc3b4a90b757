import bearerAuth from '@fastify/bearer-auth'
import rateLimit from '@fastify/rate-limit'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { LIMITED, openListing, UNAUTHORIZED } from './listing.js'

/*
 * The same API from Fastify and its plug-ins, put together as their documentation says. Argument:
 * the path of the database.
 */

const listing = openListing(new Database(process.argv[2]))
const app = Fastify()

await app.register(bearerAuth, {
  keys: new Set(),
  async auth(key, request) {
    request.apiKey = listing.findKey(key)
    return request.apiKey !== undefined
  },
  errorResponse: () => UNAUTHORIZED,
})
await app.register(rateLimit, {
  max: 1,
  timeWindow: 1_000,
  cache: 200_000,
  hook: 'preHandler',
  keyGenerator: (request) => request.apiKey.id,
  errorResponseBuilder: () => ({ statusCode: 429, ...LIMITED }),
})
const string = { type: ['string', 'null'] }
const fields = ['id', 'name', 'slug', 'address', 'edition', 'status', 'version', 'listing_kind']
const server = {
  type: 'object',
  properties: Object.fromEntries(fields.map((name) => [name, string])),
}
const schema = {
  response: {
    200: { type: 'object', properties: { servers: { type: 'array', items: server } } },
  },
}
app.get('/v1/servers', { schema }, (request) => listing.serversFor(request.apiKey))

console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
