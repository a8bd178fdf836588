import Foundation
import ODataMetadata
import Testing

/// Faults of CSDL JSON documents: each one is reported with its line, and the rest of the document is read.
@Suite struct JSONDefectsTests {
    @Test func defectsInJSON() throws {
        let text = """
            {"$Version": "9",
             "S": {"A": {"$Kind": "EntityType", "$Key": ["id"], "$Key": ["x"],
                         "id": {"$Type": "Edm.Int32", "$MaxLength": "long"},
                         "b": {"$Type": "X.Y"}, "@T.a@T.b": 1},
                   "Z": {"$Kind": "Widget"},
                   "E": {"$Kind": "EnumType"},
                   "F": 3}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        #expect(
            model.diagnostics.map { "\($0.kind) \($0.line)" } == [
                "unknownVersion 1", "duplicate 2", "invalidValue 3", "unknownType 4", "missing 4", "unknownElement 5", "emptyEnumeration 6",
                "unknownElement 7", "invalidValue 7",
            ])
        #expect(model.entityType("S.A")?.key.map(\.path) == ["id"])
    }

    @Test func operationsWithoutAnArrayInJSON() throws {
        let text = """
            {"$Version": "4.01", "S": {
              "do": {"$Kind": "Action", "$Parameter": [{"$Name": "p"}]}}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        #expect(model.operations("S.do").map { $0.parameters.map(\.name) } == [["p"]])
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["invalidValue 2"])
    }

    @Test func annotationsOfMembersInJSON() throws {
        let text = """
            {"$Version": "4.01", "S": {
              "E": {"$Kind": "EnumType", "@T.e": 1, "a": 0, "a@T.x": 2, "b@T.y#q": 3, "b": 1, "b@T.y#q@T.z": 4,
                    "no@T.x": 5},
              "@T.r": {"@type": "#S.R", "p": 1, "p@T.x": 2, "@T.x": 3, "q@T.x": 4}}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        let type = try #require(model.enumType("S.E"))
        #expect(type.annotations.map(\.term) == ["T.e"] && type.members.map { $0.annotations.map(\.term) } == [["T.x"], ["T.y"]])
        #expect(type.members.last?.annotations.first?.annotations.map(\.value) == [.int(4)])
        guard case .record(let record)? = model.schemas.first?.annotations.first?.value else {
            Issue.record("\(model.schemas)")
            return
        }
        #expect(record.type == "S.R" && record.annotations.map(\.value) == [.int(3)])
        #expect(record.values.map(\.name) == ["p"] && record.values.first?.annotations.map(\.value) == [.int(2)])
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["unknownElement 3", "unknownElement 4"])
    }

    @Test func valuesOfTheWrongKind() throws {
        let text = """
            {"$Version": "4.01", "$EntityContainer": "S.No", "$Reference": {"u": {"$Include": {"$Namespace": "U"},
              "$IncludeAnnotations": [{"$TermNamespace": "T", "$Terms": 1}]}},
             "S": {
              "A": {"$Kind": "EntityType", "$Key": ["id", 5], "id": {"$Type": "Edm.Int32"}, "s": {"$DefaultValue": null},
                    "n": {"$Type": "Edm.Int32", "$DefaultValue": null}, "l": {"$DefaultValue": []}},
              "f": [{"$Kind": "Action", "$Parameter": [{"$Type": "Edm.Int32"}]}],
              "g": [],
              "K": {"$Kind": "EntityContainer", "As": {"$Collection": true, "$Type": "S.A"}},
              "@T.r": {"a": 1, "$Odd": 1}}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        #expect(
            model.diagnostics.map { "\($0.kind) \($0.line)" } == [
                "unknownResource 1", "invalidValue 1", "unknownElement 2", "invalidValue 4", "invalidValue 5", "missing 6", "missing 7",
                "unknownElement 9",
            ])
        // The container that the document names isn't there, so the one that is there counts.
        #expect(model.container?.qualifiedName == "S.K" && model.entitySets.map(\.name) == ["As"])
        #expect(model.entityType("S.A")?.properties.map(\.defaultValue) == [nil, nil, "null", nil])
        #expect(model.operations("S.f").map(\.parameters.count) == [0])
        #expect(try ServiceModel(xml: model.xml()) == model && ServiceModel(json: model.json()) == model.jsonForm)
    }

    @Test func aliasesWithTheNameOfANamespace() throws {
        let text = """
            {"$Version": "4.01", "B": {"$Alias": "A", "T": {"$Kind": "ComplexType", "a": {"$Type": "A.X"}}},
             "A": {"X": {"$Kind": "ComplexType"}}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        #expect(model.property("a", of: "B.T")?.type.name == "A.X" && model.complexType("A.T") == nil)
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["duplicateSchema 1"])
        #expect(try ServiceModel(json: model.json()) == model.jsonForm)
    }

    @Test func aliasesWithTheNameOfAnIncludedNamespace() throws {
        let text = """
            {"$Version": "4.01", "$Reference": {"u": {"$Include": [{"$Namespace": "A"}]}},
             "B": {"$Alias": "A", "T": {"$Kind": "ComplexType", "a": {"$Type": "A.X"}}, "X": {"$Kind": "ComplexType"}}}
            """
        let model = try ServiceModel(json: Data(text.utf8))
        #expect(model.property("a", of: "B.T")?.type.name == "A.X")
        #expect(model.diagnostics.map { "\($0.kind) \($0.line)" } == ["duplicateSchema 2"])
    }
}
