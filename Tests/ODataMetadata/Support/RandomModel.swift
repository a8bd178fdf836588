import ODataMetadata
import TestSupport

/// Random models that a reader doesn't repair: all names exist, and no value contradicts a default.
struct RandomModel {
    var random: SeededGenerator

    init(seed: Int) { random = SeededGenerator(seed: UInt64(seed)) }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func chance(_ part: Int = 2) -> Bool { number(0..<part) == 0 }
    private mutating func pick<Item>(_ items: [Item]) -> Item { items[number(0..<items.count)] }

    private mutating func list<Item>(upTo count: Int, _ make: (inout RandomModel, Int) -> Item) -> [Item] {
        (0..<number(0..<count + 1)).map { make(&self, $0) }
    }

    private mutating func text() -> String {
        pick(["", " ", "a", "Größe", "<&>\"'", "two\n  lines", "\ttab ", "\u{1F600}", "{x}", "a\\b", "true", "12"])
    }

    mutating func model() -> ServiceModel {
        let namespaces = ["A", "B.C"].prefix(number(1..<3))
        let schemas = namespaces.map { schema($0, isFirst: $0 == "A") }
        return ServiceModel(version: pick([.v4, .v401]), schemas: schemas, references: [reference()])
    }

    private mutating func reference() -> ServiceModel.Reference {
        ServiceModel.Reference(
            uri: "https://example.org/ä?a=1&b=2",
            includes: [ServiceModel.Include(namespace: "X", alias: chance() ? "x" : nil, annotations: annotations(1))],
            includedAnnotations: [.init(termNamespace: "T", qualifier: chance() ? "q" : nil, targetNamespace: chance() ? "X" : nil)],
            annotations: annotations(1))
    }

    private mutating func schema(_ namespace: String, isFirst: Bool) -> ServiceModel.Schema {
        let entities = list(upTo: 3) {
            $0.type(namespace, "E\($1)", .entity, base: $1 > 0 && $0.chance() ? "\(namespace).E\($1 - 1)" : nil)
        }
        let complex = list(upTo: 3) {
            $0.type(namespace, "C\($1)", .complex, base: $1 > 0 && $0.chance() ? "\(namespace).C\($1 - 1)" : nil)
        }
        return ServiceModel.Schema(
            namespace: namespace, alias: isFirst ? "self" : nil, entityTypes: entities, complexTypes: complex,
            enumTypes: list(upTo: 2) { random, index in
                ServiceModel.EnumType(
                    namespace: namespace, name: "N\(index)", underlyingType: random.pick(["Edm.Int32", "Edm.Byte", "Edm.Int64"]),
                    isFlags: random.chance(),
                    members: (0..<3).map { .init(name: "m\($0)", value: Int64(random.number(-9..<9)), annotations: random.annotations(1)) },
                    annotations: random.annotations(1))
            },
            typeDefinitions: list(upTo: 2) {
                ServiceModel.TypeDefinition(
                    namespace: namespace, name: "D\($1)", underlyingType: .init("Edm.String", maxLength: .fixed($1), isUnicode: $0.chance())
                )
            },
            terms: list(upTo: 2) {
                ServiceModel.Term(
                    namespace: namespace, name: "T\($1)", type: $0.reference(), baseTerm: $0.chance() ? "X.base" : nil,
                    defaultValue: $0.chance() ? $0.text() : nil, appliesTo: $0.chance() ? ["EntitySet", "Property"] : [],
                    annotations: $0.annotations(2))
            },
            operations: list(upTo: 3) { random, index in
                let kind: ServiceModel.OperationKind = random.chance() ? .action : .function
                return ServiceModel.Operation(
                    kind: kind, namespace: namespace, name: "o\(index)", isBound: random.chance(),
                    isComposable: kind == .function && random.chance(), entitySetPath: random.chance() ? "p/X.T" : nil,
                    parameters: [.init(name: "p", type: random.reference(), annotations: random.annotations(1))],
                    returnType: random.chance() ? .init(type: random.reference(), annotations: random.annotations(1)) : nil,
                    annotations: random.annotations(2))
            }, containers: isFirst ? [container(namespace, entities.map(\.qualifiedName))] : [],
            targetedAnnotations: [.init(target: namespace, annotations: annotations(3))].filter { !$0.annotations.isEmpty },
            annotations: annotations(2))
    }

    private mutating func type(
        _ namespace: String, _ name: String, _ kind: ServiceModel.StructuredType.Kind, base: String?
    ) -> ServiceModel.StructuredType {
        ServiceModel.StructuredType(
            kind: kind, namespace: namespace, name: name, baseType: base, isAbstract: chance(), isOpen: chance(),
            hasStream: kind == .entity && chance(),
            key: kind == .entity && base == nil ? [.init(path: "p", alias: chance() ? "k" : nil)] : [],
            properties: [.init(name: "p", type: .init("Edm.Int32", isNullable: false))]
                + list(upTo: 3) {
                    .init(name: "p\($1)", type: $0.reference(), defaultValue: $0.chance() ? $0.text() : nil, annotations: $0.annotations(2))
                },
            navigationProperties: list(upTo: 2) {
                .init(
                    name: "n\($1)", targetType: "X.Other", isCollection: $0.chance(), isNullable: $0.chance(),
                    partner: $0.chance() ? "a" : nil,
                    containsTarget: $0.chance(),
                    referentialConstraints: $0.chance()
                        ? [.init(property: "p", referencedProperty: "id", annotations: $0.annotations(1))] : [],
                    onDelete: .setNull, onDeleteAnnotations: $0.annotations(1), annotations: $0.annotations(1))
            }, annotations: annotations(2), extensions: .init(attributes: [.init(name: "Unknown", value: text())]))
    }

    private mutating func container(_ namespace: String, _ types: [String]) -> ServiceModel.EntityContainer {
        ServiceModel.EntityContainer(
            namespace: namespace, name: "Container",
            entitySets: types.enumerated().map {
                .init(
                    name: "s\($0)", entityType: $1, isInServiceDocument: chance(), bindings: [.init(path: "X.T/n", target: "X.K/t")],
                    annotations: annotations(1))
            }, singletons: [.init(name: "one", type: "X.Other", isNullable: chance(), annotations: annotations(1))],
            operationImports: [.init(kind: .action, name: "do", operation: "X.o", entitySet: "one", annotations: annotations(1))],
            annotations: annotations(1))
    }

    private mutating func reference() -> ServiceModel.TypeReference {
        var type = ServiceModel.TypeReference(
            pick(["Edm.String", "Edm.Decimal", "Edm.DateTimeOffset", "Edm.Boolean", "X.T", "Edm.GeographyPoint"]), isCollection: chance(),
            isNullable: chance())
        if chance() { type.maxLength = .fixed(number(1..<99)) }
        if chance() { type.precision = number(1..<99) }
        if chance() { type.scale = pick([.fixed(3), .variable, .floating]) }
        if chance() { type.srid = pick([.fixed(4326), .variable]) }
        type.isUnicode = chance()
        return type
    }

    private mutating func annotations(_ count: Int, depth: Int = 0) -> [ServiceModel.Annotation] {
        if depth > 3 { return [] }
        return list(upTo: count) {
            ServiceModel.Annotation(
                term: "T.t\($1)", qualifier: $0.chance() ? "q" : nil, value: $0.chance(5) ? nil : $0.expression(depth + 1),
                annotations: $0.annotations(1, depth: depth + 2))
        }
    }

    private mutating func expression(_ depth: Int) -> ServiceModel.Expression {
        let simple: [ServiceModel.Expression] = [
            .string(text()), .bool(chance()), .int(Int64(number(-99..<99))), .decimal("1.50"), .float("INF"), .float("1.5e3"), .null,
            .date("2026-11-27"), .guid("a"), .duration("PT1S"), .timeOfDay("10:00"), .binary("AQ"), .dateTimeOffset("2026-11-27T00:00:00Z"),
            .enumMembers(["X.E/a", "X.E/b"]), .path("a/X.T/b"), .propertyPath("p"), .navigationPropertyPath("n"), .annotationPath("a/@T.t"),
            .anyPropertyPath("p/q"), .modelElementPath("/X.K"), .labeledElementReference("X.label"),
        ]
        if depth > 3 { return pick(simple) }
        let inner = expression(depth + 1)
        switch number(0..<13) {
        case 0: return .collection([inner, pick(simple)])
        case 1:
            return .record(
                .init(
                    type: chance() ? "X.R" : nil, values: [.init(name: "v", value: inner, annotations: annotations(1, depth: depth + 1))],
                    annotations: annotations(1, depth: depth + 1)))
        case 2: return .apply(function: "odata.concat", arguments: [inner, pick(simple)])
        case 3: return .cast(inner, type: .init("Edm.Decimal", scale: chance() ? .variable : nil))
        case 4: return .isOf(inner, type: .init("X.T", isCollection: chance()))
        case 5: return .if(pick(simple), then: inner, else: chance() ? pick(simple) : nil)
        case 6: return .labeledElement(name: "l", inner)
        case 7: return .unary(pick([.not, .negate]), inner)
        case 8: return .binaryOperation(pick([.and, .isIn, .has, .divideBy]), inner, pick(simple))
        case 9: return .urlReference(inner)
        case 10: return .annotated(.null, [ServiceModel.Annotation(term: "T.n", value: pick(simple))])
        case 11: return .annotated(pick(simple), [ServiceModel.Annotation(term: "T.n", value: .collection([.string(text()), inner]))])
        default: return pick(simple)
        }
    }
}
