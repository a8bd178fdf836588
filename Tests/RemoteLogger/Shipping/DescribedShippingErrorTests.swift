import Foundation
import Testing
import WebServiceClient

@testable import RemoteLogger

@Suite struct DescribedShippingErrorTests {
    @Test func `The errors of shippers and spools say the same everywhere`() {
        let errors: [any DescribedError] = [
            LogShipperError(message: "ftp://a can't take log records: give an absolute http or https URL."), SpoolFault(2, "rename"),
        ]
        for error in errors {
            let plain: any Error = error
            #expect(plain.localizedDescription == error.description && (plain as NSError).localizedDescription == error.description)
            #expect((plain as NSError).domain == "RemoteLogger.\(type(of: error))" && (plain as NSError).code == 1)
        }
    }
}
