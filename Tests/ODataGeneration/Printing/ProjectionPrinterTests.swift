import Foundation
import ODataGeneration
import TestSupport
import Testing

struct ProjectionPrinterTests {
    @Test(arguments: [
        (#"["ID", "ID"]"#, "ID"), (#"["ID", "Place", {"Place": ["City"]}]"#, "Place"), (#"[{"Place": ["City", "land", "City"]}]"#, "City"),
    ])
    func aPropertyIsListedOnce(_ properties: String, _ name: String) {
        let faults = ShopDocument.faults(#"{"projections": {"Card": {"of": "Shop.order", "properties": \#(properties)}}}"#)
        #expect(faults.count == 1 && faults.allSatisfy { $0.contains("the projection 'Card' lists '\(name)' twice") }, "\(faults)")
    }

    @Test func collidingPropertiesAreReported() throws {
        let document = ShopDocument.document([
            """
            <ComplexType Name="a"><Property Name="Url" Type="Edm.String"/><Property Name="URL" Type="Edm.String"/></ComplexType>
            """
        ])
        let generator = try ShopDocument.generator(
            #"{"projections": {"Card": {"of": "Shop.a", "properties": ["Url", "URL"]}}}"#, document)
        let messages = generator.warnings.map(\.message)
        #expect(messages.contains { $0.hasPrefix("'Card/URL' is 'url_URL' in Swift") }, "\(messages)")
        #expect(messages.contains { $0.hasPrefix("'Card/Url' is 'url_Url' in Swift") }, "\(messages)")
        #expect(messages == messages.sorted())
    }
}
