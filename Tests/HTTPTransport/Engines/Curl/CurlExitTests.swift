import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// The process may exit at any moment, and with whatever is still there.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlExitTests {
    /// Exit handlers that are older than libcurl is here run when no call of it goes on any more.
    @Test func `what an exit handler lets go of, and makes, keeps no process`() async {
        await ExitTesting.alone {
            await #expect(processExitsWith: .exitCode(3)) {
                ExitTesting.endLater()
                enum Kept {
                    nonisolated(unsafe) static var transport: CurlTransport?
                }
                atexit {
                    Kept.transport = nil
                    guard (try? CurlTransport()) == nil else { return }
                    _exit(3)
                }
                Kept.transport = try CurlTransport()
                exit(0)
            }
        }
    }
}
