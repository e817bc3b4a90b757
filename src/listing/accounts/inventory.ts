/** What goes when a user is removed. */
export interface Belongings {
  /** Active ones. */
  api_keys: number
  servers: number
  /** Organizations with no other member. */
  organizations: number
}

/** What the operator's commands read, across all users. Fields have the names of the JSON. */
export interface InventoryStore {
  countBelongings(userId: string): Promise<Belongings>
}
