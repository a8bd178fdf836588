import Foundation
import ODataMetadata
import TestSupport
import Testing

@testable import ODataGeneration

struct TypeSelectionTests {
    private func selection(_ inclusions: GenerationConfiguration.Inclusion..., exclude: [String] = []) throws -> TypeSelection {
        var configuration = GenerationConfiguration()
        configuration.include = inclusions
        configuration.exclude = exclude
        return TypeSelection(try ServiceModel(data: ShopDocument.document()), configuration)
    }

    @Test func aTypeIncludesItsBasesAndTheTypesOfItsProperties() throws {
        let found = try selection(.types(.init("Shop.order")))
        #expect(found.structuredTypes == ["Shop.order", "Shop.item", "Shop.address"])
        #expect(found.enumerations == ["Shop.state"])
    }

    @Test func relationsAndDerivedTypesAreIncludedOnRequest() throws {
        #expect(try selection(.types(.init("Shop.order", relations: .steps(1)))).structuredTypes.count == 5)
        #expect(try selection(.types(.init("Shop.order", relations: .named(["Lines"])))).contains("Shop.line"))
        #expect(try !selection(.types(.init("Shop.order", relations: .named(["Lines"])))).contains("Shop.customer"))
        #expect(try selection(.types(.init("Shop.item", derived: .all))).contains("Shop.giftOrder"))
        #expect(try !selection(.types(.init("Shop.item", derived: .named(["Shop.order"])))).contains("Shop.giftOrder"))
    }

    @Test func setsOperationsAndPatternsNameTypes() throws {
        #expect(try selection(.sets(["me"])).structuredTypes == ["Shop.customer", "Shop.address"])
        #expect(try selection(.types(.init("Shop.c*"))).structuredTypes == ["Shop.customer", "Shop.address"])
        #expect(try selection(.operations(["Shop.total"])).structuredTypes.isEmpty)
        #expect(try !selection(.types(.init("Shop.order")), exclude: ["Shop.add*"]).contains("Shop.address"))
    }

    @Test func propertiesOfATypeCanBeChosen() throws {
        let found = try selection(.types(.init("Shop.order", properties: ["default"])))
        #expect(found.contains("default", of: "Shop.order") && !found.contains("Place", of: "Shop.order"))
        #expect(found.contains("ID", of: "Shop.item") && !found.contains("created", of: "Shop.item"))
        #expect(!found.contains("Shop.address"))
        // Another way to the same type brings the rest.
        #expect(try selection(.types(.init("Shop.order", properties: ["default"])), .sets(["orders"])).contains("Shop.address"))
    }

    @Test func theReasonOfATypeIsThePathToIt() throws {
        let found = try selection(.sets(["orders"]))
        #expect(
            found.explanation(of: "Shop.address") == [
                "Shop.address is the type of the property Place of Shop.order", "Shop.order is included by 'the set orders'",
            ])
        #expect(found.explanation(of: "Shop.line") == nil)
    }

    @Test(arguments: [
        ("a*", "abc", true), ("*c", "abc", true), ("a*c", "abc", true), ("a*b*c", "abc", true), ("*", "", true), ("a", "ab", false),
        ("ab*bc", "abc", false), ("a*b*b*c", "abc", false), ("", "", true), ("**", "x", true),
    ])
    func patterns(_ pattern: String, _ name: String, _ fits: Bool) {
        #expect(NamePattern(pattern).matches(name) == fits)
    }

    /// The counts that an independent program took from the same document.
    @Test(
        .enabled("SHARED_DIRECTORY names no folder with the metadata of Graph") { GraphDocument.data != nil },
        arguments: [
            (["user"], 0, 23, 3, 5, 214), (["user"], 1, 141, 52, 66, 1_042), (["user"], 2, 327, 139, 109, 2_008),
            (["user"], 1_000, 478, 245, 132, 2_634), (Self.common, 0, 138, 20, 39, 1_007), (Self.common, 1, 306, 107, 95, 1_900),
            (Self.common, 2, 447, 197, 132, 2_539), (Self.common, 1_000, 553, 260, 154, 2_960),
        ])
    func closuresOfGraph(_ roots: [String], _ steps: Int, _ types: Int, _ entities: Int, _ enumerations: Int, _ members: Int) throws {
        let model = try #require(GraphDocument.model)
        var configuration = GenerationConfiguration()
        configuration.include = roots.map { .types(.init("microsoft.graph." + $0, relations: .steps(steps))) }
        let found = TypeSelection(model, configuration)
        let chosen = found.structuredTypes.compactMap { model.structuredType($0) }
        #expect(chosen.count == types)
        #expect(chosen.filter { $0.kind == .entity }.count == entities)
        #expect(found.enumerations.count == enumerations)
        #expect(chosen.reduce(0) { $0 + $1.properties.count + $1.navigationProperties.count } == members)
    }

    static let common = [
        "user", "group", "message", "event", "driveItem", "site", "list", "listItem", "application", "team", "channel", "chatMessage",
        "calendar", "contact", "mailFolder", "drive",
    ]
}
