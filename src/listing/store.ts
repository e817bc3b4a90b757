import type { ApiKeyStore } from './api-key.ts'
import type { AuditStore } from './accounts/audit.ts'
import type { ClaimStore } from './claim.ts'
import type { HealthStore } from './health/health.ts'
import type { InvitationStore } from './invitation.ts'
import type { LastBackupStore } from './health/last-backup.ts'
import type { OrganizationStore } from './organization.ts'
import type { InventoryStore } from './accounts/inventory.ts'
import type { OperatorStore } from './accounts/operator.ts'
import type { PasswordStore, SecretStore } from './accounts/passwords.ts'
import type { CheckedImportStore } from './servers/checked-import.ts'
import type { RevocationStore } from './accounts/revocations.ts'
import type { PublishedServerStore } from './servers/published-server.ts'
import type { RegisteredServerStore } from './servers/registered-server.ts'
import type { ServerChangeStore } from './servers/server-changes.ts'
import type { ServerImportStore } from './servers/server-import.ts'
import type { ServerSearchStore } from './servers/server-search.ts'
import type { SessionStore } from './accounts/sessions.ts'
import type { StateStore } from './state/state-store.ts'
import type { SignInLinkStore } from './accounts/sign-in-links.ts'
import type { AttemptStore } from './accounts/sign-in-attempts.ts'
import type { UseCountStore } from './use-counts.ts'
import type { UserStore } from './accounts/user.ts'

/**
 * The operations of people, one interface per noun. Each method is one transaction unless its
 * comment says otherwise. When its promise resolves, the change survives a crash and every process
 * sees it. When it rejects, nothing has changed, except with NotJournaled.
 */
export interface ManagementStore
  extends UserStore,
    PasswordStore,
    SecretStore,
    SessionStore,
    SignInLinkStore,
    AttemptStore,
    AuditStore,
    OperatorStore,
    InventoryStore,
    ApiKeyStore,
    RevocationStore,
    ServerImportStore,
    RegisteredServerStore,
    PublishedServerStore,
    ServerSearchStore,
    ServerChangeStore,
    CheckedImportStore,
    OrganizationStore,
    InvitationStore,
    StateStore,
    LastBackupStore {}

/** What a command opens. */
export interface Store extends ManagementStore {
  /** False if certainly no process answers requests from this database at the moment. */
  isServed(): boolean
  /** Ends everything the store has open. Harmless when repeated. */
  close(): Promise<void>
}

/** A store that also answers the public API's requests. Its database may not be reachable yet. */
export interface ServingStore extends Store, ClaimStore, UseCountStore, HealthStore {
  /** Connects and updates the schema. Throws NotConfigured or AuthenticationFault. */
  prepare(): Promise<void>
}
