import { serve } from '@hono/node-server'
import Database from 'better-sqlite3'
import { createApp } from './hono.js'

/* Hono on Node.js. Argument: the path of the database. */

const { fetch } = createApp(new Database(process.argv[2]))
serve({ fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
