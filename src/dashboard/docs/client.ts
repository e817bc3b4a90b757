import { readFile } from 'node:fs/promises'
import type { App } from '../../web/context.ts'

/** The npm package of the client, which programs install from here. */
const CLIENT_PATH = '/docs/server-listing-client.tgz'

/** Everyone may install the client. npm has no session. */
export function addClientRoute(app: App): void {
  let loading: Promise<Uint8Array<ArrayBuffer>> | null = null

  app.get(CLIENT_PATH, async (c) => {
    loading ??= loadTarball()
    try {
      return c.body(await loading, 200, { 'Content-Type': 'application/gzip' })
    } catch (fault) {
      // The next request tries again.
      loading = null
      throw fault
    }
  })
}

/** From the build. A service that runs from its sources makes the same bytes. */
async function loadTarball(): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readFile(new URL('./server-listing-client.tgz', import.meta.url))
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault
  }
  // Not a literal, because the bundle must not contain the bundler.
  const maker = new URL('../../../scripts/package/client.ts', import.meta.url).href
  const { clientTarball } = (await import(maker)) as {
    clientTarball(): Promise<Buffer<ArrayBuffer>>
  }
  return clientTarball()
}
