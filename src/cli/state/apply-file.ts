import { presentInstant } from '../../listing/instant.ts'
import { readState } from '../../listing/state/read-state.ts'
import { count } from '../../listing/text.ts'
import { confirm } from '../confirm.ts'
import { changeStore, withStore } from '../context.ts'
import { readInput } from '../input.ts'
import { printJson, say } from '../output.ts'
import { applyPlan } from './apply-plan.ts'
import { keyFilesBeside, parseJson, planOrRefuse, refusal } from './read-file.ts'
import { countChanges, planJson, sayPlan } from './show-plan.ts'
import type { Shell } from '../shell.ts'

export interface ApplyOptions {
  dryRun?: boolean
  prune?: boolean
  yes?: boolean
  json?: boolean
}

/** `apply`: checks the file, prints the plan, asks and makes the changes. */
export async function applyFile(shell: Shell, file: string, options: ApplyOptions): Promise<void> {
  const { dryRun = false, prune = false } = options
  const now = presentInstant()
  const json = parseJson(await readInput(shell, file), file)
  const { state, complaints } = readState(json, now, keyFilesBeside(file))
  if (state === null) throw refusal(file, complaints)
  const run = dryRun ? withStore : changeStore
  await run(shell, async (store) => {
    const plan = await planOrRefuse(store, file, state, complaints, { prune, now })
    sayPlan(shell, plan, store.place)
    const { added, changed, removed } = countChanges(plan)
    const isNeeded = plan.changes.length > 0
    if (isNeeded && !dryRun) {
      await confirm(
        shell,
        `add ${count(added)}, change ${count(changed)} and remove or revoke ${count(removed)} ` +
          `in ${store.place}`,
        options,
      )
      await applyPlan(store, state, { plan, prune, now: presentInstant() })
    }
    if (options.json) printJson(shell, planJson(plan, !dryRun))
    if (!isNeeded) say(shell, '0 changes')
    else if (dryRun) say(shell, 'nothing was changed')
    else
      say(
        shell,
        `${count(added)} added, ${count(changed)} changed, ${count(removed)} removed or revoked`,
      )
  })
}
