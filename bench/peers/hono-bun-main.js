import { Database } from 'bun:sqlite'
import { createApp } from './hono.js'

/* Hono on Bun. Argument: the path of the database. */

const { fetch } = createApp(new Database(process.argv[2]))
const { port } = Bun.serve({ fetch, hostname: '127.0.0.1', port: 0 })
console.log(`listening on http://127.0.0.1:${port}`)
