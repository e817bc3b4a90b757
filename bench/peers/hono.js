import { Hono } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { rateLimiter } from 'hono-rate-limiter'
import { LIMITED, openListing, UNAUTHORIZED } from './listing.js'

/** The same API from Hono and its middleware, put together as their documentation says. */
export function createApp(database) {
  const listing = openListing(database)
  const app = new Hono()
  app.use(
    bearerAuth({
      async verifyToken(key, context) {
        const apiKey = listing.findKey(key)
        context.set('apiKey', apiKey)
        return apiKey !== undefined && apiKey !== null
      },
      invalidToken: { message: UNAUTHORIZED },
    }),
  )
  app.use(
    rateLimiter({
      windowMs: 1_000,
      limit: 1,
      keyGenerator: (context) => context.get('apiKey').id,
      message: LIMITED,
    }),
  )
  app.get('/v1/servers', (context) => context.json(listing.serversFor(context.get('apiKey'))))
  return app
}
