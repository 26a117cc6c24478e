// Contrast as WCAG 2.1 AA asks for it, computed from the style sheet's own variables: text 4.5 on every ground that it stands
// on, marks and edges of fields 3, light and dark; and the colours of parts apart for people who see two primaries.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";

const sheet = readFileSync(new URL("../../web/src/style.css", import.meta.url), "utf8");
const variables = text => Object.fromEntries([...text.matchAll(/--(\w+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]));
const [light, dark] = sheet.split("@media (prefers-color-scheme: dark)").map(part => variables(part.slice(0, part.indexOf("\n}"))));
const linear = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16) / 255).map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
const luminance = colour => linear(colour).reduce((sum, value, i) => sum + [0.2126, 0.7152, 0.0722][i] * value, 0);
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

const names = (letter, count) => Array.from({length: count}, (_, i) => `${letter}${i}`);
const needs = {4.5: ["ink", "soft", "main", "good", "bad", "accent"], 3: ["faint", ...names("c", 14), ...names("m", 7)]};
for (const [scheme, colours] of Object.entries({light, dark})) {
  test(`contrast in the ${scheme} scheme`, () => {
    for (const [least, list] of Object.entries(needs)) for (const name of list) for (const ground of ["paper", "panel"]) {
      const found = contrast(colours[name], colours[ground]);
      assert.ok(found >= Number(least), `--${name} on --${ground}: ${found.toFixed(2)}, ${least} is needed`);
    }
    assert.ok(contrast(colours.paper, colours.ink) >= 4.5, "the text beside the pointer");
  });
}

/// What people without the long or the medium cones see (Machado, Oliveira, Fernandes 2009, severity 1), as CIE Lab.
const eyes = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};
const times = (matrix, vector) => matrix.map(row => row.reduce((sum, value, i) => sum + value * vector[i], 0));
function lab(colour, eye) {
  const seen = times(eyes[eye], linear(colour)).map(value => Math.max(0, Math.min(1, value)));
  const [x, y, z] = times([[0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505], [0.2126, 0.7152, 0.0722], [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089]], seen).map(value => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("the parts' colours are told apart by all eyes", () => {
  for (const colours of [light, dark]) for (const eye of Object.keys(eyes)) for (let i = 0; i < 14; ++i) for (let j = 0; j < i; ++j) {
    const apart = Math.hypot(...lab(colours[`c${i}`], eye).map((value, k) => value - lab(colours[`c${j}`], eye)[k]));
    assert.ok(apart > 15, `--c${j} and --c${i} are ${apart.toFixed(1)} apart (${eye})`);
  }
});
