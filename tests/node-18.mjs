// Every package that a lock file here names runs on Debian 12's Node, by what the package says of itself.
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const debian = [18, 20, 4];
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const compare = (a, b) => a.map((part, i) => part - (b[i] ?? 0)).find(part => part) ?? 0;
function suits(part) {
    const [, sign, version] = /^(>=|>|\^)?\s*v?([\d.]+)$/.exec(part.trim()) ?? [];
    if (!version) throw new Error(`unknown range ${part}`);
    const numbers = version.split(".").map(Number), order = compare(debian, numbers);
    return sign === ">" ? order > 0 : sign === ">=" ? order >= 0 : sign === "^" ? order >= 0 && numbers[0] === debian[0] : order === 0;
}
let count = 0;
const late = [];
for (const folder of ["web", "tests/page", "tests/sarif", "tests/mcp"]) {
    for (const [path, {version, engines}] of Object.entries(JSON.parse(readFileSync(join(root, folder, "package-lock.json"))).packages)) {
        count++;
        if (engines?.node && !engines.node.split("||").some(suits)) late.push(`${folder}: ${path} ${version} needs node ${engines.node}`);
    }
}
console.log([...late, `${count} packages, ${late.length} of them too new for node ${debian.join(".")}`].join("\n"));
process.exitCode = late.length > 0 ? 1 : 0;
