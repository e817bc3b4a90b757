/*
 * Mistakes in docs/openapi.json, each with the complaint that must follow from real exchanges.
 */

// biome-ignore lint/suspicious/noExplicitAny: a plant changes any place of the document.
type Document = any

interface Planted {
  plant(document: Document): void
  found: RegExp
}

const server = ({ components }: Document) => components.schemas.Server
const answer = ({ paths }: Document, status: number, path = '/v1/servers') =>
  paths[path].get.responses[status]
const bodyOf = (document: Document, status: number) =>
  answer(document, status).content['application/json'].schema

export const PLANTED: Record<string, Planted> = {
  'a missing status': {
    plant: ({ paths }) => delete paths['/v1/servers'].get.responses[429],
    found: /^GET \/v1\/servers 429: the status is not in the document$/,
  },
  'a missing refusal of broken bytes': {
    plant: ({ paths }) => delete paths['/health'].get.responses[431],
    found: /^GET \/health 431: the status is not in the document$/,
  },
  'a missing path': {
    plant: ({ paths }) => delete paths['/health'],
    found: /^GET \/\{path\} 200: the status is not in the document$/,
  },
  'a preflight with another status': {
    plant: ({ paths }) => {
      const { options } = paths['/']
      options.responses = { 200: options.responses[204] }
    },
    found: /^OPTIONS \/ 204: the status is not in the document$/,
  },
  'a missing header': {
    plant: (document) => delete answer(document, 429).headers['Retry-After'],
    found: /429: the header retry-after is not in the document$/,
  },
  'a header that the service does not send': {
    plant: (document) => {
      const { headers } = answer(document, 200)
      headers.ETag = { required: true, schema: { type: 'string' } }
    },
    found: /200: the header etag is missing$/,
  },
  'another value of a header': {
    plant: ({ components }) => (components.headers.AllowOrigin.schema.const = 'null'),
    found: /the header access-control-allow-origin must be equal to constant/,
  },
  'another type of a header': {
    plant: ({ components }) => (components.headers.XRequestId.schema = { type: 'integer' }),
    found: /502: the header x-request-id must be integer/,
  },
  'a missing field': {
    plant: (document) => {
      delete server(document).properties.slug
      server(document).required = ['id']
    },
    found: /200: the body\/servers\/0 must NOT have additional properties .*"slug"/,
  },
  'a field that the service does not send': {
    plant: (document) => {
      server(document).properties.players = { type: 'integer' }
      server(document).required.push('players')
    },
    found: /200: the body\/servers\/0 must have required property 'players'/,
  },
  'a field that is never null': {
    plant: (document) => (server(document).properties.version.type = 'string'),
    found: /200: the body\/servers\/\d\/version must be string/,
  },
  'another type of a field': {
    plant: (document) => (server(document).properties.address.type = 'integer'),
    found: /200: the body\/servers\/0\/address must be integer/,
  },
  'a closed list of editions': {
    plant: (document) => (server(document).properties.edition.enum = ['bedrock']),
    found: /200: the body\/servers\/\d\/edition must be equal to one of the allowed values/,
  },
  'another name of the list': {
    plant: ({ components: { schemas } }) => {
      schemas.Listing.properties.items = schemas.Listing.properties.servers
      delete schemas.Listing.properties.servers
      schemas.Listing.required = ['items']
    },
    found: /200: the body must have required property 'items'/,
  },
  'an error in other words': {
    plant: (document) => (bodyOf(document, 429).properties.error.const += '.'),
    found: /429: the body\/error must be equal to constant/,
  },
  'only one of the two sentences of a 502': {
    plant: (document) => bodyOf(document, 502).properties.error.enum.pop(),
    found: /502: the body\/error must be equal to one of the allowed values/,
  },
  'an error without its second field': {
    plant: (document) => {
      delete bodyOf(document, 429).properties.limit
      bodyOf(document, 429).required = ['error']
    },
    found: /429: the body must NOT have unevaluated properties .*"limit"/,
  },
  'an answer without its body': {
    plant: (document) => delete answer(document, 404, '/{path}').content,
    found: /^GET \/\{path\} 404: the document has no body$/,
  },
  'another content type': {
    plant: (document) => {
      const { content } = answer(document, 200, '/health')
      content['text/plain'] = content['application/json']
      delete content['application/json']
    },
    found: /200: the document has no application\/json$/,
  },
}
