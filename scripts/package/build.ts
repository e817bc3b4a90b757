import { bundle } from './bundle.ts'

/*
 * Builds dist/, which replaces src/ in the published package.
 */

await bundle('dist')
