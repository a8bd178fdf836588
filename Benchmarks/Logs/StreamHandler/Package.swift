// swift-tools-version: 6.1

import PackageDescription

// What a Swift program has at hand: swift-log with its own handler. The only part of the log benchmarks that fetches something.
let package = Package(
    name: "stream-handler",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/apple/swift-log", from: "1.16.2")],
    targets: [
        .executableTarget(
            name: "stream-handler", dependencies: [.product(name: "Logging", package: "swift-log")], path: "Sources",
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
