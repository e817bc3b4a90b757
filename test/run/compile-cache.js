import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/*
 * Loaded first into every test process of a run. Without the cache, a short test spends most of its
 * time on compiling the same TypeScript again. A program that a test starts does not inherit it.
 * JavaScript, because the first TypeScript file would load the compiler itself.
 */

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)))
