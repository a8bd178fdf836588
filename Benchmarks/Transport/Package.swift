// swift-tools-version: 6.1

import PackageDescription

// Compares transports: `Benchmarks/transport`. A separate package, so that the other benchmarks don't fetch SwiftNIO.

// MemberImportVisibility is off for the reason that the library's Package.swift gives for tests.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "web-service-client-transport-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "web-service-client", path: "../..", traits: ["AsyncHTTPClient"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "contender",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Sources/Contender", swiftSettings: settings),
        .executableTarget(name: "comparison", path: "Sources/Comparison", swiftSettings: settings),
    ]
)
