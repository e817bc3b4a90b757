import type { Server } from './server.ts'

/** The servers that everyone may see, for their public pages (spec 2.1, rule 3). */
export interface PublishedServerStore {
  /**
   * A personal server whose status is `published`. Null for every other text, with the same single
   * lookup: an unknown or malformed id, another status, an organization's server.
   */
  findPublishedServer(id: string): Promise<Server | null>
}
