import CSystemLibraries
import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

#if os(Linux)
/// The driver of libcurl, and its ownership.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlDriverTests {
    /// `@unchecked Sendable`: what the tests call is for any thread.
    private final class Driver: @unchecked Sendable {
        let pointer: OpaquePointer
        private let multi: OpaquePointer

        init() throws {
            _ = try CurlLibrary.open()
            csl_curl_enter()
            defer { csl_curl_leave() }
            multi = try #require(csl_multi_new())
            pointer = try #require(csl_driver_new(multi))
        }

        deinit {
            csl_curl_enter()
            csl_multi_free(multi)
            csl_curl_leave()
            csl_driver_free(pointer)
        }

        /// Acquires and releases ownership. Returns whether that was possible.
        func couldAcquire() -> Bool {
            guard csl_driver_try_acquire(pointer) else { return false }
            csl_driver_release(pointer)
            return true
        }
    }

    @Test func `a driver has one owner at a time`() throws {
        let driver = try Driver()
        csl_driver_acquire(driver.pointer)
        #expect(!csl_driver_try_acquire(driver.pointer))
        csl_driver_release(driver.pointer)
        #expect(driver.couldAcquire())
    }

    @Test func `another thread can acquire ownership while one waits, and end the wait`() async throws {
        let driver = try Driver()
        let steps = Locked((isOwner: false, hasEnded: false))
        Thread.detachNewThread {
            csl_driver_acquire(driver.pointer)
            steps.withLock { $0.isOwner = true }
            csl_driver_wait(driver.pointer, 600_000)
            steps.withLock { $0.hasEnded = true }
            csl_driver_release(driver.pointer)
        }
        try await watched { while !steps.withLock({ $0.isOwner }) { try await Task.sleep(for: .milliseconds(1)) } }
        try await watched { while !driver.couldAcquire() { try await Task.sleep(for: .milliseconds(1)) } }
        #expect(!steps.withLock { $0.hasEnded })
        csl_driver_wake(driver.pointer)
        try await watched { while !steps.withLock({ $0.hasEnded }) { try await Task.sleep(for: .milliseconds(1)) } }
        try await watched { while !driver.couldAcquire() { try await Task.sleep(for: .milliseconds(1)) } }
    }

    @Test func `a wait ends as soon as it is woken, and in time`() throws {
        let driver = try Driver()
        csl_driver_acquire(driver.pointer)
        csl_driver_wake(driver.pointer)
        csl_driver_wait(driver.pointer, 600_000)
        csl_driver_work(driver.pointer, true)
        csl_driver_wait(driver.pointer, 2)
        csl_driver_release(driver.pointer)
    }

    @Test func `a broken pipe raises nothing between the guards, and the mask is as it was`() {
        func blocked() -> [Bool] {
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            return [SIGPIPE, SIGTERM, SIGUSR1, SIGSEGV].map { sigismember(&mask, $0) == 1 }
        }
        let before = blocked()
        var signals = csl_signal_guard()
        csl_signal_guard_begin(&signals)
        // A fault must reach the program's crash reporter.
        #expect(blocked() == [true, true, true, false])
        // Unblocked with this signal waiting, the process would end.
        pthread_kill(pthread_self(), SIGPIPE)
        csl_signal_guard_end(&signals)
        #expect(blocked() == before)
    }
}
#endif
