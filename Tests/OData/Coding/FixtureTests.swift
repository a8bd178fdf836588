import Foundation
import Testing

@testable import OData

/// One order in the format of each version.
@Suite struct FixtureTests {
    struct Order: Codable, Sendable, Equatable {
        enum State: String, Sendable { case open = "Open" }
        var Id: Int64, Total: EdmDecimal, Placed: EdmDateTimeOffset, Day: EdmDate, Opens: EdmTimeOfDay, Takes: EdmDuration, Weight: Double
        var Key: UUID, Seal: Data, State: OpenEnumeration<State>, Options: EdmFlags<State>, Note: Presence<String>
    }

    @Test(arguments: [
        ("order-v4", PayloadFormat()), ("order-v4-ieee754", PayloadFormat(version: .v401, isIEEE754Compatible: true)),
        ("order-v2", PayloadFormat(version: .v2)),
    ])
    func `one type reads every version, and is written as it was read`(name: String, format: PayloadFormat) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../../Fixtures/odata")
        let data = try Data(contentsOf: folder.appending(path: name + ".json"))
        let order = try ODataDecoder().decode(ODataEntity<Order>.self, from: data)
        #expect(
            order.metadata.etag == #"W/"7""# && order.Id == 9_007_199_254_740_993 && order.Note == .null
                && order.undeclared.properties.isEmpty)
        #expect(order.Placed.description == "2026-11-21T07:59:59.123+01:00" && order.Opens.description == "09:50:04")
        let root = try ODataDecoder().decode(ODataValue.self, from: data)
        let sent = DynamicEntity(
            (root["d"]?.object ?? root.object ?? [:]).properties.filter { !$0.name.hasPrefix("@") && !$0.name.hasPrefix("__") })
        #expect(try ODataEncoder(format).payload(of: order.value).object == sent)
    }
}
