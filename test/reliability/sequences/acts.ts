import {
  backUp,
  restoreArchive,
  uniteList,
  move,
  pagesBesideService,
  copyFile,
  putFile,
  exportState,
  applyState,
  stopOrStart,
} from './file-acts.ts'
import { killRestore, killRevoke, killRemove, killBackup } from './kill-acts.ts'
import {
  addUser,
  issue,
  revokeKey,
  revokeBySql,
  deleteBySql,
  reloadBySql,
  remove,
  disable,
} from './record-acts.ts'
import type { Act } from './world.ts'

/** A repeated act is drawn more often. */
export const ACTS: Readonly<Record<string, [weight: number, act: Act]>> = {
  'add a user': [3, addUser],
  'issue a key': [8, issue],
  'revoke a key': [6, revokeKey],
  'revoke by SQL': [2, revokeBySql],
  'delete a key by SQL': [2, deleteBySql],
  'reload a key by SQL': [2, reloadBySql],
  'remove a user': [2, remove],
  'disable or enable': [2, disable],
  'back up': [5, backUp],
  restore: [6, restoreArchive],
  'unite the list': [2, uniteList],
  'move to the other engine': [2, move],
  'pages beside the service': [2, pagesBesideService],
  'copy the file': [2, copyFile],
  'put an older file in place': [3, putFile],
  export: [2, exportState],
  apply: [3, applyState],
  'stop or start': [2, stopOrStart],
  'kill a restore': [1, killRestore],
  'kill a revocation': [1, killRevoke],
  'kill a removal': [1, killRemove],
  'kill a backup': [1, killBackup],
}
