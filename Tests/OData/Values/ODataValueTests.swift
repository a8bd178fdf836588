import Foundation
import Testing

@testable import OData

@Suite struct ODataValueTests {
    /// Steps that each nest a value deeper.
    private static let steps: [@Sendable (ODataValue) -> ODataValue] = [
        { .array([$0]) },
        { .array([.null, $0, "b"]) },
        { .object(["a": $0]) },
        { .object(DynamicEntity([.init("a", 1), .init("b", $0)])) },
        { inner in
            var entity: DynamicEntity = ["a": 1]
            entity["a"] = inner
            return .object(entity)
        },
        { inner in
            var entity = DynamicEntity()
            _ = entity.append("a", inner)
            return .array([.object(entity)])
        },
    ]

    private static func build(_ levels: Int, _ step: Int) -> ODataValue {
        (0..<levels).reduce("x") { inner, _ in steps[step](inner) }
    }

    @Test(arguments: steps.indices)
    func `unbounded nesting can be built, compared, hashed and released, and is refused when written`(step: Int) async {
        await onSmallStack {
            let (one, other) = (Self.build(20_000, step), Self.build(20_000, step))
            #expect(one == other && one.hashValue == other.hashValue && one != "x" && one.isSame(as: other))
            #expect(throws: EncodingError.self) { try ODataEncoder().encode(one) }
            #expect(throws: EncodingError.self) { try ODataEncoder().encode(["value": one]) }
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(one) }
            #expect(throws: EncodingError.self) { try EntityDraft(of: ["a": ODataValue.null]).with("a", one).changes() }
        }
    }

    @Test func `a part of unbounded nesting can't be written either`() throws {
        for step in Self.steps.indices {
            var value = Self.build(700, step)
            var written = 0
            while let inner = value.array?.last(where: { $0 != "b" }) ?? value.object?.properties.last?.value {
                if (try? ODataEncoder().encode(value)) != nil { written += 1 }
                value = inner
            }
            #expect(written == 0)
        }
    }

    @Test func `a value is complete again after its too deep part is removed`() throws {
        var entity: DynamicEntity = ["a": 1, "b": Self.build(400, 0)]
        #expect(throws: Never.self) { try ODataEncoder().encode(entity) }
        entity["b"] = Self.build(5_000, 0)
        #expect(throws: EncodingError.self) { try ODataEncoder().encode(entity) }
        entity["b"] = nil
        #expect(try ODataEncoder().encode(entity) == Data(#"{"a":1}"#.utf8))
    }

    @Test func `arrays are made from lists and literals`() throws {
        let list: [ODataValue] = [1, "a", .null]
        let value = ODataValue.array(list)
        #expect(value == [1, "a", .null] && value == .array([1, "a", .null]) && value.array == list)
        guard case .array(let elements) = value else { return }
        #expect(elements.count == 3 && elements[1] == "a" && elements.map(\.integer) == [1, nil, nil])
    }
}

extension EntityDraft where Entity == [String: ODataValue] {
    fileprivate func with(_ name: String, _ value: ODataValue) -> EntityDraft {
        var draft = self
        draft.value[name] = value
        return draft
    }
}
