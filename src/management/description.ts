import { readFileSync } from 'node:fs'
import type { Route } from './call.ts'

const DESCRIPTION = new URL('../../docs/management-openapi.json', import.meta.url)

/** The description of these routes in OpenAPI. */
export const descriptionRoute: Route = {
  method: 'GET',
  path: /^\/v1\/openapi\.json$/,
  answer: async () => ({ status: 200, body: readFileSync(DESCRIPTION) }),
}
