// TypeScript: a union of types, told apart by a tag.

type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };

function area(shape: Shape): number {
  switch (shape.kind) {
    case "circle":
      return Math.PI * shape.radius ** 2;
    case "square":
      return shape.side ** 2;
  }
}

const shapes: Shape[] = [{ kind: "circle", radius: 1 }, { kind: "square", side: 3 }];
for (const shape of shapes) {
  console.log(`${shape.kind}: ${area(shape).toFixed(2)}`);
}
