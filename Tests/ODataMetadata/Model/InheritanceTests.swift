import ODataMetadata
import TestSupport
import Testing

/// What types inherit, compared with a walk up their base types.
@Suite struct InheritanceTests {
    /// Types that derive from an earlier type, from none, from an unknown one, from themselves or from a later one.
    private func types(_ random: inout SeededGenerator) -> [ServiceModel.StructuredType] {
        let count = Int.random(in: 1...24, using: &random)
        return (0..<count).map { index in
            let base = Int.random(in: -2...index + (Int.random(in: 0..<8, using: &random) == 0 ? 2 : -1), using: &random)
            let names = ["a", "b", "c", "d"].filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.shuffled(using: &random)
            let split = names.isEmpty ? 0 : Int.random(in: 0...names.count, using: &random)
            return ServiceModel.StructuredType(
                kind: Int.random(in: 0..<9, using: &random) == 0 ? .complex : .entity, namespace: "S", name: "T\(index)",
                baseType: base < 0 ? nil : "S.T\(base)", isOpen: Int.random(in: 0..<6, using: &random) == 0,
                hasStream: Int.random(in: 0..<6, using: &random) == 0,
                key: Int.random(in: 0..<4, using: &random) == 0 ? [.init(path: "k\(index)")] : [],
                properties: names[..<split].map { .init(name: $0, type: .init("Edm.Int32")) },
                navigationProperties: names[split...].map { .init(name: $0, targetType: "S.T0") })
        }
    }

    @Test func walks() throws {
        var random = SeededGenerator(seed: 36)
        for round in 0..<Sweep.rounds(ofAll: 300) {
            let types = types(&random)
            let model = ServiceModel(schemas: [.init(namespace: "S", entityTypes: types)])
            for type in types {
                let line = [type] + model.baseTypes(of: type)
                #expect(Set(line.map(\.name)).count == line.count, "round \(round)")
                #expect(zip(line, line.dropFirst()).allSatisfy { $0.baseType == $1.qualifiedName && $0.kind == $1.kind })
                #expect(model.isOpen(type) == line.contains(where: \.isOpen) && model.hasStream(type) == line.contains(where: \.hasStream))
                #expect(model.key(of: type) == line.first { !$0.key.isEmpty }?.key ?? [], "round \(round)")
                #expect(model.nearestBase(of: type) == line.dropFirst().first)
                for other in types {
                    let isBase = line.contains { $0.name == other.name }
                    #expect(model.isType(type.qualifiedName, derivedFrom: other.qualifiedName) == isBase, "round \(round)")
                    let isDerived = model.derivedTypes(of: other.qualifiedName).contains { $0.name == type.name }
                    #expect(isDerived == (isBase && other.name != type.name), "round \(round)")
                }
                for name in ["a", "b", "c", "d", "e"] {
                    let owner = line.first { ($0.properties.map(\.name) + $0.navigationProperties.map(\.name)).contains(name) }
                    #expect(model.property(name, of: type.qualifiedName) == owner?.properties.first { $0.name == name }, "round \(round)")
                    #expect(
                        model.navigationProperty(name, of: type.qualifiedName)
                            == owner?.navigationProperties.first { $0.name == name }, "round \(round)")
                }
            }
        }
    }

    @Test func aLongChain() throws {
        let count = 3_000
        let first = "<EntityType Name=\"T0\"><Property Name=\"id\" Type=\"Edm.Int32\"/></EntityType>"
        let types = [first] + (1..<count).map { "<EntityType Name=\"T\($0)\" BaseType=\"S.T\($0 - 1)\"/>" }
        let last = "<EntityType Name=\"Last\" BaseType=\"S.T\(count - 1)\"><Key><PropertyRef Name=\"id\"/></Key></EntityType>"
        let model = try ServiceModel(xml: document(types.joined() + last))
        #expect(model.diagnostics.filter { $0.kind != .missingKey }.isEmpty && model.diagnostics.count == count)
        #expect(model.property("id", of: "S.Last")?.declaringType == "S.T0" && model.isType("S.Last", derivedFrom: "S.T0"))
        let type = try #require(model.entityType("S.Last"))
        #expect(model.baseTypes(of: type).count == count && model.nearestBase(of: type)?.name == "T\(count - 1)")
    }
}
